package spool

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// A Fallback stands before the events of an external engine. While that engine is away,
// it puts calls in the spool and answers polls for their results.
type Fallback struct {
	Spool   *Spool
	Events  sluice.Events
	Results sluice.Results
	Host    *stream.Host // of the engine that may be away

	// Address returns the subject of an event and the pipelines that listen to it.
	Address func(e *sluice.Event) (subject string, listeners []string, err error)

	ids    correlation.IDs
	stream jetstream.Stream // of events
}

// SetUp is called before the host is set up.
func (f *Fallback) SetUp(ids correlation.IDs, events jetstream.Stream) { f.ids, f.stream = ids, events }

// Accepts reports whether calls go to the spool because of an error of the engine. A node
// that has not reached the engine since its start has no webhooks to call.
func (f *Fallback) Accepts(away error) bool {
	return sluice.AsError(away).Code == string(sluice.CodeEngineUnavailable) && f.Host.IsSetUp() &&
		f.stream.CachedInfo().Config.AllowAtomicPublish
}

// Accept implements sluice.Events. Only calls of webhooks go to the spool: their trace ids
// are their own. After a DoubtError the call may be stored already.
func (f *Fallback) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	result, away := f.Events.Accept(ctx, e, wait)
	isCall := e.Method != "" && e.ReplayOf == ""
	if away == nil || !isCall || !f.Accepts(away) {
		return result, away
	}
	subject, listeners, err := f.Address(e)
	if err != nil {
		return result, err
	}
	stored := *e
	stored.Listeners = listeners
	c := &Call{Subject: subject}
	if c.Event, err = stream.Encode(&stored, nil); err != nil {
		return result, err
	}
	if e.Fingerprint != nil {
		c.Window = e.Fingerprint.Window // its marker ends the doubt
	} else if doubt, ok := errors.AsType[*stream.DoubtError](away); ok {
		c.ID, c.Place = doubt.ID, doubt.Place
	}
	number, place, err := f.Spool.Put(ctx, c)
	if err != nil {
		return result, sluice.Passing(sluice.CodeEngineUnavailable, sluice.AsError(away).Message+
			" The spool takes no calls either: "+sluice.AsError(err).Message).Because(errors.Join(away, err))
	}
	result = sluice.Processing(e.TraceID, f.ids.SpooledID(number, place, e.TraceID), e.ReceivedAt)
	result.Spooled, result.Listeners = true, listeners
	return result, nil
}

// Result implements sluice.Results. For a call that waits here, a poll takes as long as it
// may: nothing can end it sooner.
func (f *Fallback) Result(ctx context.Context, correlationID string, longest time.Duration) (sluice.Result, error) {
	e, err := f.waiting(ctx, correlationID)
	if err != nil {
		return sluice.Result{}, err
	}
	if e == nil {
		return f.Results.Result(ctx, correlationID, longest)
	}
	_ = wait.For(ctx, longest)
	return sluice.Processing(e.TraceID, correlationID, e.Received), nil
}

// waiting returns what is known of a call that waits here, nil if it does not wait.
func (f *Fallback) waiting(ctx context.Context, correlationID string) (*correlation.Envelope, error) {
	if !f.Host.IsSetUp() {
		return nil, nil
	}
	r, ok := f.ids.ParseSpooled(correlationID)
	if !ok {
		return nil, nil
	}
	return f.Spool.Waiting(ctx, f.ids, r)
}
