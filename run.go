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

	// Recorded, if set, replies to HTTP requests of steps in place of the servers
	// they call: the run is a rehearsal, and sends nothing. NotRecorded if it can't.
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

// Bind bounds all users that the run switches to from now on by what its owner may do.
// The pipeline runs within another one, whose author may not know what it contains.
func (r *Run) Bind(owner User) { r.bound = &owner }

// Confine keeps the user that the run has now within the scopes of its owner. Users that it
// switches to have their own.
func (r *Run) Confine(owner User) { r.user = r.user.WithinScopes(owner) }

// Exit ends the run with the output of this step.
func (r *Run) Exit() { r.exited = true }

// Exited reports whether a step has ended the run.
func (r *Run) Exited() bool { return r.exited }

type runKey struct{}

// WithRun returns a context for the steps of a run.
func WithRun(ctx context.Context, r *Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunFrom returns the run that a command is a step of, nil if it is not in one.
func RunFrom(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// OwnerError returns the error of Owner for a step that needs the owner's rights. It is
// Forbidden instead of Unauthenticated: the caller is known, only the owner is gone.
func OwnerError(err error) error {
	if e := AsError(err); e.Kind == Unauthenticated {
		return &Error{Kind: Forbidden, Code: e.Code, Message: e.Message}
	}
	return err
}

// MaxHops is how many events and pipelines may follow from each other. More count as a
// loop.
const MaxHops = 16

// NextHop returns the hops of what the run or the request of ctx sends or starts.
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

// How many pipelines run at the same time on one node. Six bounds apply, from the
// single pipeline to the whole node. An event passes them in this order:
//
//  1. Deliveries: the events of a pipeline that the engine has handed out and that
//     are not acknowledged, and as many waiting events. There are more of them than
//     runs, since an event keeps its delivery until its outcome is synced; so runs
//     never wait for the disk.
//  2. Idle goroutines (MaxIdleRunners). Each delivery has a goroutine, unless order
//     counts. One that is done waits for another delivery, with the stack it has
//     grown; beyond this number it ends.
//  3. Slots, a pipeline's concurrency: the runs of one pipeline at the same time. One
//     slot keeps the order of events. Retries and replays get half of the slots at
//     most. A pipeline's rate bounds how often a slot is taken. An event that waits for
//     another attempt takes none, unless order counts.
//  4. Bytes (MaxRunBytes): the stored size of the events that the runs of one pipeline
//     have decoded. Slots alone don't bound memory, since a decoded event takes up to
//     twenty times its size.
//  5. Memory of the node (max-run-memory): what the events of all pipelines take, stored
//     and decoded, and what runs make of them. An event waits for memory. A run that
//     finds none for what it makes ends, and its event is given back.
//  6. Slots of the node (max-runs): the runs of all pipelines together. The run of an
//     event waits for a slot, and keeps the slot and bytes of its pipeline. A run that
//     a user starts is refused.
const (
	DefaultConcurrency = 16
	MaxConcurrency     = 1000
	MaxIdleRunners     = 256
	MaxRunBytes        = 16 << 20
	DefaultMaxRuns     = 1024 // of a Runner without a setting; the server's setting has its own default
)

// Deliveries is how many events of a pipeline are handed out at the same time: only one
// if order counts.
func Deliveries(concurrency int) int {
	if concurrency == 1 {
		return 1
	}
	return 8 * concurrency
}
