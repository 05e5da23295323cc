package stream

import (
	"context"
	"sort"
	"strconv"
	"time"

	"sluice"
)

// maxScan bounds the entries that one scan reads; its cursor continues from there.
const maxScan = 10_000

// A ScanQuery selects the entries of a stream that a scan reads.
type ScanQuery struct {
	From, To time.Time // zero means unbounded
	Oldest   bool      // the oldest first, otherwise the newest
	Before   string    // cursor: where the page before it ended
	Limit    int
}

// holds reports whether a time is in the span of the query, and whether all that come after
// it are not.
func (s ScanQuery) holds(at time.Time) (within, over bool) {
	early, late := at.Before(s.From), !s.To.IsZero() && at.After(s.To)
	return !early && !late, !s.Oldest && early || s.Oldest && late
}

// bounds returns what is left to read of the entries from first to last.
func (s ScanQuery) bounds(first, last uint64) (uint64, uint64, error) {
	if s.Before == "" {
		return first, last, nil
	}
	place, err := strconv.ParseUint(s.Before, 10, 64)
	switch {
	case err != nil || place == 0:
		return 0, 0, sluice.InvalidParameter("after",
			"The parameter after must be the value of next in the previous answer.")
	case s.Oldest:
		return max(first, place), last, nil
	}
	return first, min(last, place-1), nil
}

// cursor returns the cursor before the next entry.
func (s ScanQuery) cursor(next uint64) string {
	if s.Oldest {
		return strconv.FormatUint(next, 10)
	}
	return strconv.FormatUint(next+1, 10)
}

// Scan returns the selected entries that match, in the order of the query, and the cursor
// behind them if there may be more. Entries must be stored in the order of their times.
func (e *Entries[T]) Scan(
	ctx context.Context, s ScanQuery, matches func(sequence uint64, entry *T) bool,
) (entries []T, next string, err error) {
	info, err := e.stream.Info(ctx)
	if err != nil {
		return nil, "", NoAnswer(err)
	}
	first, last, err := s.bounds(max(1, info.State.FirstSeq), info.State.LastSeq)
	if err != nil {
		return nil, "", err
	}
	if !s.To.IsZero() && s.Before == "" {
		last = e.lastUntil(ctx, first, last, s.To)
	}
	for read := uint64(0); read+first <= last; read++ {
		sequence := last - read
		if s.Oldest {
			sequence = first + read
		}
		if len(entries) == s.Limit || read == maxScan {
			return entries, s.cursor(sequence), nil
		}
		entry, err := e.Read(ctx, sequence)
		if err != nil {
			return nil, "", err
		}
		if entry == nil {
			continue
		}
		within, over := s.holds(e.timeOf(entry))
		if over {
			break
		}
		if within && matches(sequence, entry) {
			entries = append(entries, *entry)
		}
	}
	return entries, "", nil
}

// lastUntil returns the sequence of the newest entry that is not after a time.
func (e *Entries[T]) lastUntil(ctx context.Context, first, last uint64, to time.Time) uint64 {
	n := sort.Search(int(last+1-first), func(i int) bool {
		entry, err := e.Read(ctx, first+uint64(i))
		return err == nil && entry != nil && e.timeOf(entry).After(to)
	})
	return first + uint64(n) - 1
}
