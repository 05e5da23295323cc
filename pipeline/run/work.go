package run

import (
	"cmp"
	"context"

	"sluice"
	"sluice/limit"
)

type workKey struct{}

// working lets the run compute within the bound of all runs, until done is called. Runs within it do so
// as part of it.
func (x *execution) working(ctx context.Context) (within context.Context, done func()) {
	work, ok := ctx.Value(workKey{}).(*limit.Work)
	if !ok {
		group := cmp.Or(x.run.OwnerName, sluice.UserFrom(ctx).Name) // a test has no owner
		work = x.environment.Limits.Computing.Work(ctx, group, x.run.Pipeline)
		ctx = context.WithValue(ctx, workKey{}, work)
	}
	x.scope.Work = work
	return ctx, work.Until(ctx)
}
