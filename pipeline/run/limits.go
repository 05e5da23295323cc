package run

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/pipeline/source"
	"sluice/value"
)

// Limits bound a run, so that no pipeline harms the others. Zero means the default.
type Limits struct {
	Steps   int           // steps done in one run; 10,000
	RunTime time.Duration // of one run; 15 minutes, which is also the maximum
	Value   int           // bytes of one value, about as JSON; value.MaxSize
	List    int           // items of one list or object; value.MaxItems
	Items   int           // of a list that foreach goes through; 10,000
	Memory  int           // bytes of all values that a run holds; 64 MiB
	Result  int           // bytes of a final body as JSON; 4 MiB

	Shared *limit.Memory // the budget of all runs; nil: no bound
}

// SetDefaults replaces limits that are zero by their defaults.
func (l *Limits) SetDefaults() {
	*l = Limits{
		Steps:   cmp.Or(l.Steps, 10_000),
		RunTime: cmp.Or(l.RunTime, source.MaxRunTime),
		Value:   cmp.Or(l.Value, value.MaxSize),
		List:    cmp.Or(l.List, value.MaxItems),
		Items:   cmp.Or(l.Items, 10_000),
		Memory:  cmp.Or(l.Memory, 64<<20),
		Result:  cmp.Or(l.Result, 4<<20),
		Shared:  l.Shared,
	}
}

// Reserve takes memory from the budget of all runs, until release is called.
func (l *Limits) Reserve(ctx context.Context, bytes int64) (release func(), err error) {
	if l.Shared == nil {
		return func() {}, nil
	}
	memory := l.Shared.Hold()
	if memory.Grow(ctx, bytes) != nil {
		memory.Release()
		return nil, noMemory()
	}
	return memory.Release, nil
}

// A TooLongError is the error of a run that took longer than this. It becomes an
// *sluice.Error only when it is used, since every run prepares one and few need it.
type TooLongError time.Duration

// Error implements error.
func (l TooLongError) Error() string { return l.error().Error() }

// As makes errors.As find an *sluice.Error.
func (l TooLongError) As(target any) bool {
	e, ok := target.(**sluice.Error)
	if ok {
		*e = l.error()
	}
	return ok
}

func (l TooLongError) error() *sluice.Error {
	return sluice.Errorf(sluice.CodeRunTooLong, "The run took longer than %s and was stopped.", sluice.ShortDuration(time.Duration(l)))
}

// count counts a step, or a round of a loop, before it runs.
func (x *execution) count(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.steps++
	if x.steps > x.environment.Limits.Steps {
		return sluice.Errorf(sluice.CodeTooManySteps, "The run has done %d steps, more are not allowed; is there a loop without an end?", x.environment.Limits.Steps)
	}
	return nil
}

// over reports whether the run must end, whatever the policies of its steps.
func (x *execution) over(ctx context.Context) bool {
	return ctx.Err() != nil || x.steps > x.environment.Limits.Steps || x.refused
}
