package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/wait"
)

// maxReading bounds the bytes that one reading returns. Its first event may be larger.
const maxReading = 8 << 20

// A reading collects the events that fit a pattern, in order.
type reading struct {
	events   *Events
	subjects []string
	sequence uint64 // of the previous event
	limit    int
	kind     string       // of the events; "": any
	cover    sluice.Cover // events outside of it are left out
	left     int          // how many may be left out before the reading ends
	found    []json.RawMessage
	size     int
}

// listen signals when an event that fits arrives, until ctx ends. That may be before the event
// is stored. So it also signals at once, for an event that has arrived already and is stored later.
func (r *reading) listen(ctx context.Context) (arrived <-chan struct{}, err error) {
	signal := make(chan struct{}, 1)
	signal <- struct{}{}
	for _, subject := range r.subjects {
		err = errors.Join(err, r.events.host.Subscribe(ctx, subject, func(*nats.Msg) {
			select {
			case signal <- struct{}{}:
			default:
			}
		}))
	}
	return signal, err
}

// collectSoon collects an event that has just arrived, as soon as it is durable, while the
// caller waits.
func (r *reading) collectSoon(ctx, waiting context.Context) error {
	for pause := 2 * time.Millisecond; pause < stretch.Of(stream.AcceptTimeout); pause *= 2 {
		if err := r.collect(ctx); err != nil || len(r.found) > 0 || r.left <= 0 {
			return err
		}
		if wait.For(waiting, pause) != nil {
			return nil //nolint:nilerr // the caller no longer waits
		}
	}
	return nil // it was not stored
}

// collect takes the events that are durable.
func (r *reading) collect(ctx context.Context) error {
	durable := r.events.stream.Durable()
	for len(r.found) < r.limit && r.left > 0 {
		msg, err := r.next(ctx)
		if err != nil || msg == nil || msg.Sequence > durable {
			return err
		}
		if !r.wants(msg) {
			r.sequence = msg.Sequence
			r.left--
			continue
		}
		if len(r.found) > 0 && r.size+len(msg.Data) > maxReading {
			return nil
		}
		r.found = append(r.found, msg.Data)
		r.size += len(msg.Data)
		r.sequence = msg.Sequence
	}
	return nil
}

// wants reports whether an event is covered, and of the kind that is read.
func (r *reading) wants(msg *jetstream.RawStreamMsg) bool {
	if r.kind != "" {
		e, _ := correlation.ReadEnvelope(msg) // what is no event has no kind
		if !sluice.TypeMatches(r.kind, e.Type) {
			return false
		}
	}
	return r.cover.Stored(strings.TrimPrefix(msg.Subject, sluice.EventPrefix), msg.Data)
}

// next returns the event after the previous one, nil if there is none.
func (r *reading) next(ctx context.Context) (*jetstream.RawStreamMsg, error) {
	var nearest *jetstream.RawStreamMsg
	for _, subject := range r.subjects {
		msg, err := stream.First(ctx, r.events.stream, r.sequence+1, subject)
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			return nil, err
		case msg != nil && (nearest == nil || msg.Sequence < nearest.Sequence):
			nearest = msg
		}
	}
	return nearest, nil
}

// maxLeftOut bounds how long a reading takes that finds nothing: its cursor goes on.
const maxLeftOut = 1000

// After implements sluice.StoredEvents.
func (s *Events) After(ctx context.Context, q sluice.EventQuery) (events []json.RawMessage, next string, err error) {
	if err := s.host.Connected(); err != nil {
		return nil, "", err
	}
	r := &reading{
		events: s, subjects: queue.Wildcards(sluice.EventPrefix + q.Pattern), limit: q.Limit, cover: q.Cover,
		kind: q.Type, left: maxLeftOut,
	}
	if r.sequence, err = s.sequenceOf(ctx, q.After); err != nil {
		return nil, "", err
	}
	waiting, cancel := context.WithTimeout(ctx, q.Wait)
	defer cancel()
	// Listening begins before the first read, so that no event is missed in between.
	arrived, err := r.listen(waiting)
	if err != nil {
		return nil, "", stream.NoAnswer(err)
	}
	for err = r.collect(ctx); err == nil && len(r.found) == 0 && r.left > 0 && waiting.Err() == nil; {
		select {
		case <-arrived:
			err = r.collectSoon(ctx, waiting)
		case <-waiting.Done():
		}
	}
	if err != nil {
		return nil, "", err
	}
	return r.found, s.cursorOf(r.sequence), nil
}

// cursorOf returns the cursor behind an event. It also names the stream, because sequences
// of another stream mean nothing here.
func (s *Events) cursorOf(sequence uint64) string {
	return s.ids.Cursor(uint64(s.created.UnixMicro()), sequence)
}

// sequenceOf returns the sequence of the event before a cursor. Without a cursor, that is
// the newest event.
func (s *Events) sequenceOf(ctx context.Context, cursor string) (uint64, error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return 0, stream.NoAnswer(err)
	}
	last := min(info.State.LastSeq, s.stream.Durable())
	if cursor == "" {
		return last, nil
	}
	place, ok := s.ids.Place(cursor, 2)
	if !ok || place[0] != uint64(s.created.UnixMicro()) || place[1] > last {
		return 0, sluice.CodeCursorGone.Errorf(
			"The cursor is not one of the events stored here; start without one.")
	}
	return place[1], nil
}
