package deadletter

import (
	"context"
	"encoding/json"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Add stores the letter of an event that a pipeline failed on.
func (l *Store) Add(ctx context.Context, d sluice.Delivery, event []byte, o sluice.Outcome) error {
	letter := sluice.DeadLetter{
		Pipeline:      o.Pipeline,
		TraceID:       d.TraceID,
		CorrelationID: d.CorrelationID,
		Attempts:      o.Attempts,
		Time:          o.Finished,
		Event:         event,
	}
	letter.EventKey, _ = d.Message["eventKey"].(string)
	if o.Error != nil {
		letter.Error = stream.CutProblem(*o.Error)
	}
	data, err := value.Marshal(letter)
	if err != nil || len(data) > stream.MaxData { // such as the event of another program
		letter.Event, letter.EventCut = nil, true
		data, err = value.Marshal(letter)
	}
	if err != nil {
		return err
	}
	l.Shares.Take(ctx, o.Pipeline, len(data))
	_, err = l.stream.Write(ctx, stream.DeadLetterPrefix+o.Pipeline, nil, data)
	return err
}

// AddMissing stores a letter unless there is one: whoever stored the outcome may have
// stopped before the letter.
func (l *Store) AddMissing(ctx context.Context, d sluice.Delivery, event []byte, o sluice.Outcome) error {
	found, _, err := l.letters.Scan(ctx, stream.ScanQuery{From: o.Finished, Limit: 1},
		func(_ uint64, other *sluice.DeadLetter) bool {
			return other.Pipeline == o.Pipeline && other.CorrelationID == d.CorrelationID
		})
	if err != nil || len(found) > 0 {
		return err
	}
	return l.Add(ctx, d, event, o)
}

// firstOf returns the correlation id of the event that the letter's event repeats, "" if it
// repeats none.
func firstOf(d *sluice.DeadLetter) string {
	var event struct{ FirstID string }
	_ = json.Unmarshal(d.Event, &event) // an event of another program repeats none
	return event.FirstID
}
