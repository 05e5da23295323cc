package jetstream

import (
	"context"
	"strconv"

	"sluice/jetstream/record"
)

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
