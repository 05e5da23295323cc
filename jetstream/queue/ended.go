package queue

import (
	"context"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
)

// callOf returns the key and the time of the call that became a message, and false if
// none did: it was sent, or it is a replay.
func callOf(message map[string]any, traceID string) (eventKey string, at time.Time, ok bool) {
	method, _ := message["method"].(string)
	if _, replay := message["replayOf"]; replay || method == "" {
		return "", at, false
	}
	eventKey, _ = message["eventKey"].(string)
	at, ok = sluice.TraceTime(traceID)
	return eventKey, at, ok
}

// reportEnd reports what became of a call, if the outcome that was just stored under a
// sequence is the last one of the call's pipelines.
func (q *Queue) reportEnd(ctx context.Context, d *delivery, sequence uint64, outcome sluice.Outcome) {
	eventKey, at, ok := callOf(d.Message, d.TraceID)
	if !ok {
		return
	}
	end := sluice.CallEnd{EventKey: eventKey, TraceID: d.TraceID, Status: outcome.Status}
	listeners, _ := d.Message["listeners"].([]any)
	for _, listener := range listeners {
		name, _ := listener.(string)
		if name == outcome.Pipeline {
			continue
		}
		other, stored, err := q.outcomes.find(ctx, d.sequence, d.TraceID, name)
		if other == nil && err == nil {
			e := correlation.Envelope{Sequence: d.sequence, Subject: d.Subject, TraceID: d.TraceID, Received: at}
			other, err = q.Outcome(ctx, e, name)
		}
		switch {
		case err != nil && sluice.AsError(err).Kind == sluice.Gone: // it ended long ago
		case err != nil || other == nil || stored > sequence:
			return // the other one tells
		case other.Status == sluice.StatusError:
			end.Status = sluice.StatusError
		}
	}
	q.ended(end)
}
