package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/value"
)

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
