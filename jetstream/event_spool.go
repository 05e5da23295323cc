package jetstream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
)

// isCall reports whether an event is the call of a webhook. Its trace id is its own.
func isCall(e *sluice.Event) bool { return e.Method != "" && e.ReplayOf == "" }

// spooled takes a call into the spool, if there is one and the engine is away;
// otherwise the engine's error stays. After a doubt it may be stored already.
func (s *Events) spooled(ctx context.Context, e *sluice.Event, away error) (sluice.Result, error) {
	if !isCall(e) || !s.spools(away) {
		return sluice.Result{}, away
	}
	subject, err := s.address(e)
	if err != nil {
		return sluice.Result{}, err
	}
	c := &spool.Call{Subject: subject, Event: e.AppendJSON(nil)}
	if len(c.Event) > maxEvent {
		return sluice.Result{}, tooLarge()
	}
	if e.Fingerprint != nil {
		c.Window = e.Fingerprint.Window // its marker ends the doubt
	} else if doubt, ok := errors.AsType[*stream.DoubtError](away); ok {
		c.ID, c.Place = doubt.ID, doubt.Place
	}
	number, place, err := s.spool.Put(ctx, c)
	if err != nil {
		return sluice.Result{}, away
	}
	result := sluice.Processing(e.TraceID, s.ids.SpooledID(number, place, e.TraceID), e.ReceivedAt)
	result.Spooled = true
	return result, nil
}

// spools reports whether calls go to the spool while the engine has an error. A node
// that has not reached the engine since its start knows no webhooks.
func (s *Events) spools(away error) bool {
	return s.spool != nil && sluice.AsError(away).Code == sluice.CodeEngineUnavailable.Word && s.host.IsSetUp() && s.stream.CachedInfo().Config.AllowAtomicPublish
}

// handOver hands over what is in the spool, until ctx ends.
func (s *Events) handOver(ctx context.Context) {
	s.spool.HandOver(ctx, spool.Destination{
		Host: s.host, Events: s.stream, Markers: s.once.markers, IDs: s.ids, Withdrawn: withdrawnSubject,
		Stored: func(sequence uint64, subject string, e *sluice.Event) {
			s.stored(sequence, subject, e)
			s.called(sluice.Call{
				TraceID: e.TraceID, CorrelationID: s.ids.ID(sequence, e.TraceID), EventKey: e.EventKey, Time: sluice.MadeAt(e.TraceID, e.ReceivedAt),
				Status: sluice.StatusBefore(e.Listeners), StatusCode: http.StatusOK, Size: len(e.Payload), RemoteAddr: e.RemoteAddr, Listeners: e.Listeners,
			})
		},
	})
}

// waiting returns the result of a call that waits in the spool of this node, nil if
// it does not. It takes the time that a poll may take.
func (s *Events) waiting(ctx context.Context, correlationID string, wait time.Duration) (*sluice.Result, error) {
	if s.spool == nil || !s.host.IsSetUp() {
		return nil, nil
	}
	r, ok := s.ids.ParseSpooled(correlationID)
	if !ok {
		return nil, nil
	}
	e, err := s.spool.Waiting(ctx, r, func(traceID string) bool { return s.ids.FitsSpooled(r, traceID) })
	if e == nil || err != nil {
		return nil, err
	}
	pause(ctx, wait)
	result := sluice.Processing(e.TraceID, correlationID, e.Received)
	return &result, nil
}

func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// errWaits is the error of a call that may wait in the spool of another node.
var errWaits = errors.New("the call may wait in a spool")

// findSpooled returns the envelope of the event that the id of a spooled call leads
// to.
func (s *Events) findSpooled(ctx context.Context, r correlation.SpooledReference) (correlation.Envelope, error) {
	found, waits, err := spool.Find(ctx, s.stream, r)
	if err != nil {
		return correlation.Envelope{}, err
	}
	if waits && !s.host.Embedded {
		return correlation.Envelope{}, errWaits
	}
	for _, f := range found {
		e, err := s.read(ctx, f.Sequence)
		if err != nil {
			return e, err
		}
		traceID := e.TraceID
		if f.TraceID != "" {
			traceID = f.TraceID
		}
		if s.ids.FitsSpooled(r, traceID) {
			return e, nil
		}
	}
	return correlation.Envelope{}, queue.Gone()
}
