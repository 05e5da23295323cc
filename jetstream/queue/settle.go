package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/value"
)

// errUnreadable is the error of an event that can't be decoded, now or ever.
var errUnreadable = errors.New("unreadable event")

// delivery returns a stored event as a delivery.
func (q *Queue) delivery(e storedEvent) (d sluice.Delivery, err error) {
	if e.sequence == 0 {
		return d, errUnreadable
	}
	d = sluice.Delivery{Count: e.count, TraceID: sluice.ForeignTraceID(e.Time, e.sequence)}
	d.CorrelationID = q.ids.ID(e.sequence, d.TraceID)
	message, err := value.DecodeObject(e.data)
	if err != nil {
		return d, fmt.Errorf("%w %d: %w", errUnreadable, e.sequence, err)
	}
	d.Message = message
	if traceID, _ := message["traceId"].(string); sluice.ValidTraceID(traceID) {
		d.TraceID = strings.Clone(traceID) // it is kept longer than the event
		d.CorrelationID = q.ids.ID(e.sequence, d.TraceID)
	}
	complete(message, e.Subject, d.TraceID, e.Time)
	d.Hops, _ = message["hops"].(int)
	d.Hops = max(0, d.Hops)
	if given, _ := message["correlationId"].(string); !q.ids.WasSpooled(given, d.TraceID) {
		message["correlationId"] = d.CorrelationID
	}
	message["deliveryCount"] = d.Count
	return d, nil
}

// complete gives an event what a foreign program may have left out or written
// differently.
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

// settle stores an outcome, and a dead letter if it is a failure. They are on
// stable storage before the event is acknowledged: otherwise a power cut could
// keep the acknowledgement and lose the outcome.
func (q *Queue) settle(f *finished, event []byte) error {
	// Not the run's context: what was done is stored even while the server
	// stops. Writers have time-outs of their own.
	ctx := context.Background()
	failed := f.outcome.Status == sluice.StatusError
	if f.before {
		if !failed {
			return nil
		}
		return q.deadLetters.AddMissing(ctx, f.Delivery, event, f.outcome)
	}
	// The outcome comes first: without one the event is run again, and a letter
	// would be left behind if it went well then.
	if err := q.outcomes.Put(ctx, f.sequence, f.TraceID, f.outcome); err != nil {
		return err
	}
	if failed {
		if err := q.deadLetters.Add(ctx, f.Delivery, event, f.outcome); err != nil {
			return err
		}
	}
	if err := q.outcomes.notices.tell(f.sequence, f.TraceID, f.outcome, f.waits); err != nil {
		return err
	}
	q.settled(f.sequence, f.TraceID, f.outcome)
	if failed {
		key, _ := f.Message["eventKey"].(string)
		q.failed(key)
	}
	return nil
}
