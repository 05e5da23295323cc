package sluice

import (
	"context"
	"time"
)

// A Run is one run of a pipeline, as the commands that are its steps see it.
type Run struct {
	Pipeline      string         // its name; empty for one that is not stored
	TraceID       string         // of the call that led to it
	CorrelationID string         // of the event that started it; empty if none did
	Hops          int            // how many events and pipelines led to it
	Event         map[string]any // that started it; nil if none did

	// Owner gives the user whose permissions the pipeline may borrow, as
	// they are now: who stored it, or who runs it if it is not stored.
	Owner func(context.Context) (User, error)

	user   User
	exited bool
}

// User gives who the next step runs as.
func (r *Run) User() User { return r.user }

// Switch lets the following steps run as another user.
func (r *Run) Switch(u User) { r.user = u }

// Exit ends the run with the output of this step.
func (r *Run) Exit() { r.exited = true }

// Exited tells whether a step has ended the run.
func (r *Run) Exited() bool { return r.exited }

type runKey struct{}

// WithRun gives a context for the steps of a run.
func WithRun(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// RunFrom gives the run that a command is a step of, nil if it is none.
func RunFrom(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// MaxHops is how many events and pipelines may follow from each other: more is
// taken for a loop.
const MaxHops = 16

// NextHop gives the count for what a run sends or starts.
func NextHop(ctx context.Context) (hops int, err error) {
	run := RunFrom(ctx)
	if run == nil {
		return 0, nil
	}
	if run.Hops >= MaxHops {
		return 0, Errorf(Invalid, "too-many-hops", "This is the %dth event or pipeline that follows from another; pipelines seem to start each other in a loop.", MaxHops+1)
	}
	return run.Hops + 1, nil
}

// A RunReport tells how a run went, for people who look for the call that led
// to it.
type RunReport struct {
	Pipeline      string        `json:"pipeline"` // empty for one that is not stored
	TraceID       string        `json:"traceId"`
	CorrelationID string        `json:"correlationId,omitempty"`
	EventKey      string        `json:"eventKey,omitempty"` // of the event that started it
	Attempt       int           `json:"attempt"`            // counted from 1
	Delivery      int           `json:"delivery"`           // counted from 1; 0 if no event started it
	Started       time.Time     `json:"started"`
	Duration      time.Duration `json:"duration"` // in nanoseconds
	Status        Status        `json:"status"`   // ok or error
	Error         *Problem      `json:"error,omitempty"`
	Steps         []StepReport  `json:"steps"`
}

// A StepReport tells how one step of a run went.
type StepReport struct {
	Command  string        `json:"command"`
	ID       string        `json:"id,omitempty"`
	Line     int           `json:"line"`
	Started  time.Duration `json:"started"` // after the start of the run, in nanoseconds
	Duration time.Duration `json:"duration"`
	Status   Status        `json:"status"`
	Code     string        `json:"code,omitempty"` // of the error
}
