package jetstream

import (
	"context"
	"slices"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// forget removes events, and the payloads in all that was made of them. With overwrite
// their bytes on disk are overwritten.
func (e *Engine) forget(ctx context.Context, events []correlation.Envelope, overwrite bool) error {
	if len(events) == 0 {
		return nil
	}
	sequences, ran := make([]uint64, len(events)), make(map[uint64]string)
	letters := make(map[string]bool)
	oldest := slices.MinFunc(events, func(a, b correlation.Envelope) int { return a.Received.Compare(b.Received) }).
		Received
	for i, event := range events {
		sequences[i] = event.Sequence
		if len(event.Listeners) > 0 || overwrite {
			ran[event.Sequence] = event.TraceID
			letters[e.Stored.ids.ID(event.Sequence, event.TraceID)] = true
		}
	}
	if err := e.forgotten.add(ctx, sequences); err != nil {
		return err
	}
	if err := e.writeWatermarks(ctx); err != nil {
		return err
	}
	for _, event := range events {
		if err := stream.Remove(ctx, e.Stored.stream, event.Sequence, overwrite); err != nil {
			return err
		}
		if ran[event.Sequence] == "" {
			continue
		}
		if err := e.Queue.Forget(ctx, event.Sequence, event.TraceID, overwrite); err != nil {
			return err
		}
	}
	names := []string{stream.Events}
	if len(ran) > 0 {
		names = append(names, stream.Results, stream.Waiting, stream.DeadLetters, stream.Journal)
		if err := e.DeadLetters.Forget(ctx, letters, oldest, overwrite); err != nil {
			return err
		}
		if err := e.Journal.Hide(ctx, ran, overwrite); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := e.host.SyncStream(name, "msgs"); err != nil {
			return err
		}
	}
	return nil
}
