package jetstream

import (
	"context"
	"slices"
	"strconv"

	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
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
	err := e.Journal.Remember(ctx, events, overwrite)
	if err != nil && overwrite { // otherwise room counts for more
		return err
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

// forgottenEvents is how many events one record tells of.
const forgottenEvents = 8192

// forgotten says which of successive events were removed on purpose, a bit for each. By it
// a start tells them from events that the disk has lost.
type forgotten struct {
	Bits []byte `json:"bits"`
}

// forgottenSet has the events that were removed on purpose.
type forgottenSet struct{ *record.Bucket[forgotten] }

func (s forgottenSet) has(sequence uint64) bool {
	known, at := s.Copy(forgottenKey(sequence)), sequence%forgottenEvents
	return known != nil && known.Bits[at/8]&(1<<(at%8)) != 0
}

// add notes events, durably.
func (s forgottenSet) add(ctx context.Context, sequences []uint64) error {
	of := make(map[string][]uint64)
	for _, sequence := range sequences {
		of[forgottenKey(sequence)] = append(of[forgottenKey(sequence)], sequence%forgottenEvents)
	}
	for key, places := range of {
		_, err := s.ChangeEarly(ctx, key, func(before *forgotten, _ map[string]*forgotten) (*forgotten, error) {
			after := forgotten{make([]byte, forgottenEvents/8)}
			if before != nil {
				copy(after.Bits, before.Bits)
			}
			for _, at := range places {
				after.Bits[at/8] |= 1 << (at % 8)
			}
			return &after, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// drop drops what is known of events before the first stored one.
func (s forgottenSet) drop(ctx context.Context, first uint64) error {
	for i := range first / forgottenEvents {
		key := strconv.FormatUint(first/forgottenEvents-1-i, 10)
		if s.Copy(key) == nil {
			return nil
		}
		if _, err := s.ChangeEarly(ctx, key,
			func(*forgotten, map[string]*forgotten) (*forgotten, error) { return nil, nil }); err != nil {
			return err
		}
	}
	return nil
}

func forgottenKey(sequence uint64) string { return strconv.FormatUint(sequence/forgottenEvents, 10) }
