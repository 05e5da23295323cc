package quarantine

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type admitParams struct {
	ID       string    `json:"id" audit:"yes" names:"listed" doc:"Id of the one call to let in."`
	EventKey string    `json:"eventKey" audit:"yes" names:"listed" doc:"Lets in calls of the webhook with this key."`
	Code     string    `json:"code" audit:"yes" doc:"Lets in calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls, the oldest first. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
	Force    bool      `json:"force" doc:"Lets them in without checking them again."`
}

func admitCommand(k *Keeper, receiver Receiver) command.Command {
	return command.New("quarantine.admit", "Let rejected calls in after all, as new calls, the oldest first: they are checked again as their webhook is now. One that is rejected again stays.",
		func(ctx context.Context, p admitParams) (sluice.Admissions, error) {
			calls, next, err := k.chosen(ctx, sluice.QuarantineQuery{ID: p.ID, EventKey: p.EventKey, Code: p.Code, From: p.From, To: p.To, Limit: p.Limit, After: p.After, Cover: sluice.CoverFrom(ctx)})
			if err != nil {
				return sluice.Admissions{}, err
			}
			out := sluice.Admissions{Bulk: sluice.Bulk{Items: []sluice.BulkItem{}, Next: next}}
			for _, c := range calls { // a copy of each, which its request goes with
				item, err := k.admit(ctx, receiver, &c, p.Force)
				if err != nil {
					return out, err
				}
				if item == nil {
					continue
				}
				if item.CorrelationID != "" {
					out.Admitted++
				} else {
					out.Refused++
				}
				if !sluice.UserFrom(ctx).Cover(sluice.MaySeePayload).Event(c.EventKey) {
					item.CorrelationID = "" // with it the result can be read
				}
				out.Items = append(out.Items, *item)
			}
			return out, nil
		})
}

// chosen returns the calls that a query selects, the oldest first, and the cursor behind
// them.
func (k *Keeper) chosen(ctx context.Context, q sluice.QuarantineQuery) (calls []sluice.QuarantinedCall, next string, err error) {
	if q.ID == "" && q.EventKey == "" && q.Code == "" && q.From.IsZero() && q.To.IsZero() {
		return nil, "", sluice.Errorf(sluice.CodeParameterMissing, "Say which calls are meant: give an id, or eventKey, code, from or to.").About("id")
	}
	q.Oldest, q.Limit = true, cmp.Or(q.Limit, defaultLimit)
	k.settle(ctx)
	calls, next, err = k.Store.List(ctx, q)
	if err == nil && q.ID != "" && len(calls) == 0 {
		return nil, "", sluice.Errorf(sluice.CodeQuarantineUnknown, "There is no call with that id in the quarantine; quarantine.get lists those there are.").About("id")
	}
	return calls, next, err
}

// admit lets one call in; nil if it has gone meanwhile.
func (k *Keeper) admit(ctx context.Context, receiver Receiver, c *sluice.QuarantinedCall, force bool) (*sluice.BulkItem, error) {
	there, err := k.Store.Open(ctx, c)
	if !there || err != nil {
		return nil, err
	}
	result, err := receiver.Admit(ctx, c, force)
	if err != nil {
		e := sluice.AsError(err)
		if e.Kind == sluice.Unavailable || e.Kind == sluice.Internal {
			return nil, e
		}
		return &sluice.BulkItem{ID: c.ID, Code: e.Code, Message: e.Message}, nil
	}
	_, err = k.Store.Drop(ctx, c.ID)
	return &sluice.BulkItem{ID: c.ID, TraceID: result.TraceID, CorrelationID: result.CorrelationID}, err
}

type deleteParams struct {
	ID       string    `json:"id" audit:"yes" names:"listed" doc:"Id of the one call to delete."`
	EventKey string    `json:"eventKey" audit:"yes" names:"listed" doc:"Deletes calls of the webhook with this key."`
	Code     string    `json:"code" audit:"yes" doc:"Deletes calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls, the oldest first. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

func deleteCommand(k *Keeper) command.Command {
	return command.New("quarantine.delete", "Delete rejected calls that are kept.",
		func(ctx context.Context, p deleteParams) (out sluice.Deletions, err error) {
			calls, next, err := k.chosen(ctx, sluice.QuarantineQuery{ID: p.ID, EventKey: p.EventKey, Code: p.Code, From: p.From, To: p.To, Limit: p.Limit, After: p.After, Cover: sluice.CoverFrom(ctx)})
			if err != nil {
				return out, err
			}
			out.Next = next
			for _, c := range calls {
				there, err := k.Store.Drop(ctx, c.ID)
				if err != nil {
					return out, err
				}
				if there {
					out.Deleted++
				}
			}
			return out, nil
		})
}
