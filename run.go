package sluice

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
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
	Secret Lookup[string]

	// Hide cuts a text, which was made of a secret, out of all that people read of the run.
	Hide func(text string)

	// Recorded, if set, replies to HTTP requests of steps in place of the servers
	// they call: the run is a rehearsal, and sends nothing. NotRecorded if it can't.
	Recorded func(ctx context.Context, sent Exchange) (Exchange, error)

	// Place says where the current step stands: in which pipeline, which step, and in which turn of
	// the loops around it, below the places of the pipelines around this one. It is the same at
	// each attempt.
	Place func() []string
	Above []string // the place of the step that runs this pipeline; nil if none does
	Text  string   // of the current step, where that counts

	Kept Kept // what steps have done once; nil: further attempts know nothing of this one

	Exited bool // a step has ended the run with its output

	user    User
	bound   *User     // nobody in this run may do what this user may not; nil: there is no such bound
	sent    []uint64  // see NoteSent
	http    *Exchange // of the current step
	targets *targets
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

type runKey struct{}

// WithRun returns a context for the steps of a run.
func WithRun(ctx context.Context, r *Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunFrom returns the run that a command is a step of, nil if it is not in one.
func RunFrom(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Identify makes what the current step sends the same event at each attempt of the run. What
// stands behind it knows it by an id that is the same at each replay, too.
func (r *Run) Identify(e *Event) {
	if r.CorrelationID == "" {
		return // no event started the run, so there are no further attempts
	}
	place := r.Place()
	sum := identity(r.CorrelationID, place)
	e.Fingerprint = &Fingerprint{Key: [12]byte(sum[:]), Window: SendWindow}
	sum = identity(ForwardID(r), place)
	e.ForwardID = base64.RawURLEncoding.EncodeToString(sum[:18])
	if first, _ := r.Event["firstId"].(string); first != "" {
		sum = identity(first, place)
		e.Repeats = &Fingerprint{Key: [12]byte(sum[:]), Window: SendWindow}
	}
	e.Origin = OriginOf(r.Event, r.CorrelationID)
}

// StepKey names the current step for what is kept of it, as long as its place and its text are the same.
func (r *Run) StepKey() string {
	sum := identity(r.Text, r.Place())
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// An Origin is what has set an event off, however many events are between: a call, or an event
// that a user or the server has sent.
type Origin struct {
	CorrelationID string `json:"correlationId"`
	TraceID       string `json:"traceId"`
	EventKey      string `json:"eventKey,omitempty"` // of the call's webhook; empty if no call did
}

// OriginOf returns the origin of a message, which may be the message itself. That of a replay is the
// origin of what it repeats, and has another trace id.
func OriginOf(message map[string]any, correlationID string) *Origin {
	text := func(of map[string]any, field string) string {
		s, _ := of[field].(string)
		return strings.Clone(s) // it is kept longer than the message
	}
	if above, _ := message["origin"].(map[string]any); above != nil {
		return &Origin{text(above, "correlationId"), text(above, "traceId"), text(above, "eventKey")}
	}
	o := &Origin{
		CorrelationID: cmp.Or(text(message, "firstId"), correlationID),
		TraceID:       cmp.Or(text(message, "replayOf"), text(message, "traceId")),
	}
	if text(message, "method") != "" {
		o.EventKey = text(message, "eventKey")
	}
	return o
}

// NoteSent notes an event that the run has sent, or a pipeline within it. A nil run takes it and
// forgets it.
func (r *Run) NoteSent(sequences ...uint64) {
	if r != nil {
		r.sent = append(r.sent, sequences...)
	}
}

// Sent returns what was noted.
func (r *Run) Sent() []uint64 { return r.sent }

// identity returns a hash of the id of an event and a place.
func identity(id string, place []string) [sha256.Size]byte {
	var text []byte
	for _, part := range append([]string{id}, place...) {
		text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
	}
	return sha256.Sum256(text)
}

// ForwardID returns the id by which targets know the event that started a run, the same at each
// attempt and each replay: its own, or that of the event it repeats.
func ForwardID(r *Run) string {
	own, _ := r.Event["forwardId"].(string)
	first, _ := r.Event["firstId"].(string)
	return cmp.Or(own, first, r.CorrelationID)
}

// NoteHTTP notes what the current step has sent and what came back, for the
// report of the run. A nil run takes it and forgets it.
func (r *Run) NoteHTTP(e Exchange) {
	if r != nil {
		r.http = &e
	}
}

// NotedHTTP returns what the current step has noted, and forgets it; nil if there
// is nothing.
func (r *Run) NotedHTTP() *Exchange {
	e := r.http
	r.http = nil
	return e
}
