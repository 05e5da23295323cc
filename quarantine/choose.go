package quarantine

import (
	"cmp"
	"context"

	"sluice"
)

// choose returns the calls that a query selects, the oldest first, and the cursor behind
// them.
func (k *Keeper) choose(
	ctx context.Context, q sluice.QuarantineQuery,
) (calls []sluice.QuarantinedCall, next string, err error) {
	if q.ID == "" && q.EventKey == "" && q.Code == "" && q.From.IsZero() && q.To.IsZero() {
		return nil, "", sluice.Errorf(sluice.CodeParameterMissing,
			"Say which calls are meant: give an id, or eventKey, code, from or to.").About("id")
	}
	q.Oldest, q.Limit = true, cmp.Or(q.Limit, defaultLimit)
	k.settle(ctx)
	calls, next, err = k.Store.List(ctx, q)
	if err == nil && q.ID != "" && len(calls) == 0 {
		return nil, "", sluice.Errorf(sluice.CodeQuarantineUnknown,
			"There is no call with that id in the quarantine; quarantine.get lists those there are.").About("id")
	}
	return calls, next, err
}
