package pipeline

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/value"
)

// maxRunTime is how long a run may take.
const maxRunTime = 15 * time.Minute

// Limits bound a run, so that no pipeline harms the others. Zero means the
// default.
type Limits struct {
	Steps   int           // steps done in one run; 10,000
	RunTime time.Duration // of one run; 15 minutes, which is also the maximum
	Value   int           // bytes of one value, about as JSON; value.MaxSize
	List    int           // items of one list or object; value.MaxItems
	Items   int           // of a list that foreach goes through; 10,000
	Memory  int           // bytes of all values that a run holds; 64 MiB
	Result  int           // bytes of a final body as JSON; 4 MiB

	Shared *limit.Memory // what all runs take of together; nil: no bound
}

func (l *Limits) setDefaults() {
	*l = Limits{
		Steps:   cmp.Or(l.Steps, 10_000),
		RunTime: cmp.Or(l.RunTime, maxRunTime),
		Value:   cmp.Or(l.Value, value.MaxSize),
		List:    cmp.Or(l.List, value.MaxItems),
		Items:   cmp.Or(l.Items, 10_000),
		Memory:  cmp.Or(l.Memory, 64<<20),
		Result:  cmp.Or(l.Result, 4<<20),
		Shared:  l.Shared,
	}
}

// A tooLongError is the error of a run that took longer than this. It becomes
// an *sluice.Error only when it is used: every run has one ready, and hardly
// any needs it.
type tooLongError time.Duration

// Error implements error.
func (l tooLongError) Error() string { return l.error().Error() }

// As makes errors.As find an *sluice.Error.
func (l tooLongError) As(target any) bool {
	e, ok := target.(**sluice.Error)
	if ok {
		*e = l.error()
	}
	return ok
}

func (l tooLongError) error() *sluice.Error {
	return sluice.Errorf(sluice.CodeRunTooLong, "The run took longer than %s and was stopped.", sluice.ShortDuration(time.Duration(l)))
}

// count counts a step, or a round of a loop, before it is done.
func (x *execution) count(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.steps++
	if x.steps > x.limits.Steps {
		return sluice.Errorf(sluice.CodeTooManySteps, "The run has done %d steps, more are not allowed; is there a loop without an end?", x.limits.Steps)
	}
	return nil
}

// over reports whether the run must end, whatever a step says about errors.
func (x *execution) over(ctx context.Context) bool {
	return ctx.Err() != nil || x.steps > x.limits.Steps || x.refused
}
