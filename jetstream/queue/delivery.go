package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/value"
)

// An event is an event as it is stored.
type event struct {
	sequence uint64 // in the stream of events
	data     []byte
	origin
}

// envelope reads what can be known of an event without decoding it.
func (e event) envelope() (correlation.Envelope, error) {
	return correlation.ReadEnvelope(&jetstream.RawStreamMsg{
		Sequence: e.sequence, Subject: e.Subject, Data: e.data, Time: e.Time,
	})
}

// An origin says where an event comes from.
type origin struct {
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`            // when it was stored
	Waits   string    `json:"waits,omitempty"` // the node whose caller waits
}

// A delivery is one handing over of an event to a pipeline.
type delivery struct {
	event
	sluice.Delivery // what the pipeline gets; its Count is known before the event is decoded

	from       source
	waited     bool          // the event comes from the waiting room
	doubtful   bool          // an earlier delivery may have run the event
	again      bool          // and that was not found out to be wrong
	kept       *kept         // outputs of steps
	key        string        // of the event in the waiting room
	state      *state        // nil: no attempt is known to have failed
	place      sluice.Place  // of the event among others
	listeners  []any         // all of them; a pipeline sees those that its owner may
	due        time.Time     // of a live event that was sent for later
	tries      sluice.Target // that is tried before the event is due; 0: none
	supersedes []string      // keys of the events that it runs in place of
	settled    bool          // its outcome is stored
	withdrawn  *Settled      // what is told at its end, see withdrawn.go
}

// A source hands out deliveries. Its methods say what the steps of a delivery mean
// for it.
type source interface {
	// load makes the event ready to be decoded. The delivery has a slot.
	load(ctx context.Context, d *delivery) error
	// wait stores the state of an event, which waits for its next attempt. It
	// returns true if that attempt is due by now. Otherwise the event waits in the
	// waiting room, and this delivery is over.
	wait(ctx context.Context, d *delivery, a attempt) (due bool, err error)
	// ack ends a delivery whose event is done, or waits elsewhere.
	ack()
	// refuse ends a delivery whose event can't be read and became a dead letter.
	refuse(d *delivery)
	// giveBack has the event delivered again after a while.
	giveBack(d *delivery, after time.Duration)
	// end releases what the delivery holds.
	end(d *delivery)
}

// An attempt is one run of the pipeline on a delivery, with its outcome.
type attempt struct {
	outcome sluice.Outcome
	before  bool      // the outcome is that of an earlier delivery, and is stored
	began   time.Time // zero if before
	release func()    // gives back the memory of the outcome; nil: it takes none
}

// failed reports whether another attempt follows.
func (a attempt) failed() bool { return a.outcome.Status == sluice.StatusProcessing }

// after returns the state of the event after an attempt that failed.
func (d *delivery) after(a attempt) state {
	s := state{
		Attempts: a.outcome.Attempts, Count: d.Count, First: cmp.Or(d.First, a.began), Due: a.outcome.Next.UTC(),
		Told: a.began, Target: a.outcome.Target, Answer: a.outcome.Answered != nil,
	}
	switch {
	case d.state == nil:
		s.Order = d.place.Order
	case d.state.Later:
		s.Order = d.place.Order
		s.join(d.place, d.state.Due)
	default:
		s.Order, s.Behind = d.state.Order, d.state.Behind
	}
	if a.outcome.Error != nil {
		s.Code = a.outcome.Error.Code
	}
	if origin, at, isReplay := originOf(d); !isReplay {
		s.EventKey, s.Call = origin.EventKey, at.UTC()
	}
	return s
}

// originOf returns what has set an event off, when that came, and whether it was a replay.
func originOf(d *delivery) (origin *sluice.Origin, at time.Time, isReplay bool) {
	origin = sluice.OriginOf(d.Message, d.CorrelationID)
	at, _ = sluice.TraceTime(d.TraceID)
	return origin, at, origin.TraceID != d.TraceID
}

// errUnreadable is the error of an event that can never be decoded.
var errUnreadable = errors.New("unreadable event")

// decode completes a delivery with what is in its event. After an error the ids
// are still set.
func (q *Queue) decode(d *delivery) error {
	if d.sequence == 0 {
		return errUnreadable
	}
	d.TraceID = sluice.ForeignTraceID(d.Time, d.sequence)
	d.CorrelationID = q.ids.ID(d.sequence, d.TraceID)
	message, err := value.DecodeObject(d.data)
	if err != nil {
		return fmt.Errorf("%w %d: %w", errUnreadable, d.sequence, err)
	}
	if traceID, _ := message["traceId"].(string); sluice.ValidTraceID(traceID) {
		d.TraceID = strings.Clone(traceID) // it is kept longer than the event
		d.CorrelationID = q.ids.ID(d.sequence, d.TraceID)
	}
	complete(message, d.Subject, d.TraceID, d.Time)
	d.Hops, _ = message["hops"].(int)
	d.Hops = max(0, d.Hops)
	if given, _ := message["correlationId"].(string); !q.ids.WasSpooled(given, d.TraceID) {
		message["correlationId"] = d.CorrelationID
	}
	message["deliveryCount"] = d.Count
	d.Message = message
	d.listeners, _ = message["listeners"].([]any)
	return nil
}

// complete adds to an event what a foreign program has left out, and corrects
// what it has written differently.
func complete(message map[string]any, subject, traceID string, stored time.Time) {
	message["traceId"] = traceID
	eventKey, _ := message["eventKey"].(string)
	key, _ := message["key"].(string)
	onEvent, onKey := correlation.KeysOf(subject, eventKey, key)
	if onEvent != eventKey {
		message["eventKey"] = onEvent
	}
	if onKey != key {
		message["key"] = onKey
	}
	if received, _ := message["receivedAt"].(string); received == "" {
		message["receivedAt"] = stored.UTC().Format(time.RFC3339Nano)
	}
}
