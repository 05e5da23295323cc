package quarantine

import (
	"cmp"
	"context"
	"time"

	"sluice"
)

// A selection says which calls something is done to. {things} is what, and {by} begins a sentence with it.
type selection struct {
	ID       string    `json:"id" audit:"yes" names:"listed" doc:"Id of the one call to {things}."`
	EventKey string    `json:"eventKey" audit:"yes" names:"listed" doc:"{by} calls of the webhook with this key."`
	Code     string    `json:"code" audit:"yes" doc:"{by} calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls, the oldest first. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

// choose returns the calls that are selected, the oldest first, and the cursor behind
// them.
func (k *Keeper) choose(
	ctx context.Context, s selection,
) (calls []sluice.QuarantinedCall, next string, err error) {
	if s.ID == "" && s.EventKey == "" && s.Code == "" && s.From.IsZero() && s.To.IsZero() {
		return nil, "", sluice.CodeParameterMissing.Errorf(
			"Say which calls are meant: give an id, or eventKey, code, from or to.").About("id")
	}
	calls, next, err = k.find(ctx, s, true)
	if err == nil && s.ID != "" && len(calls) == 0 {
		return nil, "", sluice.CodeQuarantineUnknown.Errorf(
			"There is no call with that id in the quarantine; quarantine.get lists those there are.").About("id")
	}
	return calls, next, err
}

const defaultLimit = 100

// find returns the calls of a selection, and the cursor behind them.
func (k *Keeper) find(
	ctx context.Context, s selection, oldest bool,
) (calls []sluice.QuarantinedCall, next string, err error) {
	k.settle(ctx)
	return k.Store.List(ctx, sluice.QuarantineQuery{
		ID: s.ID, EventKey: s.EventKey, Code: s.Code, From: s.From, To: s.To, After: s.After, Oldest: oldest,
		Limit: cmp.Or(s.Limit, defaultLimit), Cover: sluice.CoverFrom(ctx),
	})
}
