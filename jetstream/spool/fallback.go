package spool

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// A Fallback stands before a store of events on an external engine. While that engine is
// away, calls go to the spool, and their results are asked for there.
type Fallback struct {
	Spool   *Spool
	Events  sluice.Events
	Results sluice.Results
	Host    *stream.Host // of the engine that may be away

	// Address returns the subject of an event and the pipelines that listen to it.
	Address func(e *sluice.Event) (subject string, listeners []string, err error)

	// Encode returns the JSON of an event, or an error if it is too large.
	Encode func(e *sluice.Event, space []byte) ([]byte, error)

	ids    correlation.IDs
	stream jetstream.Stream // of events
}

// SetUp is called before the host is set up.
func (f *Fallback) SetUp(ids correlation.IDs, events jetstream.Stream) { f.ids, f.stream = ids, events }

// Takes reports whether calls go to the spool while the engine has an error. A node
// that has not reached the engine since its start knows no webhooks.
func (f *Fallback) Takes(away error) bool {
	return sluice.AsError(away).Code == sluice.CodeEngineUnavailable.Word && f.Host.IsSetUp() && f.stream.CachedInfo().Config.AllowAtomicPublish
}

// isCall reports whether an event is the call of a webhook. Its trace id is its own.
func isCall(e *sluice.Event) bool { return e.Method != "" && e.ReplayOf == "" }

// Accept implements sluice.Events. After a doubt the call may be stored already.
func (f *Fallback) Accept(ctx context.Context, e *sluice.Event, wait time.Duration) (sluice.Result, error) {
	result, away := f.Events.Accept(ctx, e, wait)
	if away == nil || !isCall(e) || !f.Takes(away) {
		return result, away
	}
	subject, listeners, err := f.Address(e)
	if err != nil {
		return result, err
	}
	stored := *e
	stored.Listeners = listeners
	c := &Call{Subject: subject}
	if c.Event, err = f.Encode(&stored, nil); err != nil {
		return result, err
	}
	if e.Fingerprint != nil {
		c.Window = e.Fingerprint.Window // its marker ends the doubt
	} else if doubt, ok := errors.AsType[*stream.DoubtError](away); ok {
		c.ID, c.Place = doubt.ID, doubt.Place
	}
	number, place, err := f.Spool.Put(ctx, c)
	if err != nil {
		return result, away
	}
	result = sluice.Processing(e.TraceID, f.ids.SpooledID(number, place, e.TraceID), e.ReceivedAt)
	result.Spooled, result.Listeners = true, listeners
	return result, nil
}

// Result implements sluice.Results. A call that waits here takes the time that a poll
// may take.
func (f *Fallback) Result(ctx context.Context, correlationID string, wait time.Duration) (sluice.Result, error) {
	e, err := f.waiting(ctx, correlationID)
	if err != nil {
		return sluice.Result{}, err
	}
	if e == nil {
		return f.Results.Result(ctx, correlationID, wait)
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	return sluice.Processing(e.TraceID, correlationID, e.Received), nil
}

// waiting returns what is known of a call that waits here, nil if it does not.
func (f *Fallback) waiting(ctx context.Context, correlationID string) (*correlation.Envelope, error) {
	if !f.Host.IsSetUp() {
		return nil, nil
	}
	r, ok := f.ids.ParseSpooled(correlationID)
	if !ok {
		return nil, nil
	}
	return f.Spool.Waiting(ctx, r, func(traceID string) bool { return f.ids.FitsSpooled(r, traceID) })
}
