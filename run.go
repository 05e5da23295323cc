package sluice

import (
	"context"
	"strconv"
)

// A Run is one run of a pipeline, as the commands that are its steps see it.
type Run struct {
	Pipeline      string         // its name; empty for one that is not stored
	Caller        string         // the user who asked for it; empty if an event did
	TraceID       string         // of the call that led to it
	CorrelationID string         // of the event that started it; empty if none did
	Hops          int            // how many events and pipelines led to it
	Event         map[string]any // that started it; nil if none did

	// Owner returns the user whose permissions the pipeline may borrow, as
	// they are now: the one who stored it, or who runs it if it isn't stored.
	// Unauthenticated if that user is deleted or disabled.
	Owner     func(context.Context) (User, error)
	OwnerName string

	// Secret reveals a secret to a step, if the owner may use secrets. It is
	// cut out of all that people read of the run.
	Secret func(ctx context.Context, name string) (string, error)

	// Recorded, if set, answers HTTP requests of steps in place of those whom they
	// call: the run is only tried, and sends nothing. NotRecorded if it can't.
	Recorded func(ctx context.Context, sent Exchange) (Exchange, error)

	user   User
	bound  *User // nobody in this run may do what this user may not; nil: there is no such bound
	exited bool
	http   *Exchange // of the current step
}

// User returns the user that the next step runs as.
func (r *Run) User() User { return r.user }

// Switch lets the following steps run as another user.
func (r *Run) Switch(u User) {
	if r.bound != nil {
		u = u.Within(*r.bound)
	}
	r.user = u
}

// Bind lets whoever the run switches to, from now on, do no more than its owner
// may: the pipeline runs within another, whose author may not know what is in
// this one.
func (r *Run) Bind(owner User) { r.bound = &owner }

// Exit ends the run with the output of this step.
func (r *Run) Exit() { r.exited = true }

// Exited reports whether a step has ended the run.
func (r *Run) Exited() bool { return r.exited }

type runKey struct{}

// WithRun returns a context for the steps of a run.
func WithRun(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// RunFrom returns the run that a command is a step of, nil if it is not in one.
func RunFrom(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// OwnerError returns the error of Owner as a step answers it that needs the owner's
// rights: whoever called is known, though the owner is gone.
func OwnerError(err error) error {
	if e := AsError(err); e.Kind == Unauthenticated {
		return &Error{Kind: Forbidden, Code: e.Code, Message: e.Message}
	}
	return err
}

// MaxHops is how many events and pipelines may follow from each other: more is
// taken for a loop.
const MaxHops = 16

// NextHop returns the count for what a run, or the request of a caller, sends
// or starts.
func NextHop(ctx context.Context) (hops int, err error) {
	if run := RunFrom(ctx); run != nil {
		if run.Hops >= MaxHops {
			return 0, tooManyHops(Invalid)
		}
		return run.Hops + 1, nil
	}
	if r := requestFrom(ctx); r != nil {
		return HopsOf(r.Header)
	}
	return 0, nil
}

// HopsOf returns how many events and pipelines led to a request with these
// headers, and an error if they are too many. Callers who make a number up harm
// only what follows from their request.
func HopsOf(header map[string][]string) (int, error) {
	given := header[HopsHeader]
	if len(given) == 0 {
		return 0, nil
	}
	hops, _ := strconv.Atoi(given[0]) // a malformed number counts as 0
	if hops > MaxHops {
		return 0, tooManyHops(Loop)
	}
	return max(0, hops), nil
}

func tooManyHops(kind Kind) *Error {
	return Errorf(CodeTooManyHops, "This is the %dth event or pipeline that follows from another; pipelines seem to start each other in a loop.", MaxHops+1).OfKind(kind)
}
