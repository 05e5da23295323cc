package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// maxScan bounds the entries that one scan reads; a cursor goes on from there.
const maxScan = 10_000

// A ScanQuery selects the entries of a stream that a scan reads, newest first.
type ScanQuery struct {
	From, To time.Time // zero means unbounded
	Before   string    // cursor: where the page before it ended
	Limit    int
}

// Scan returns the selected entries that match, newest first, and the cursor
// behind them if there may be more. Entries are stored in the order of their
// times.
func Scan[T any](ctx context.Context, stream jetstream.Stream, s ScanQuery, timeOf func(*T) time.Time, matches func(sequence uint64, entry *T) bool) (entries []T, next string, err error) {
	info, err := stream.Info(ctx)
	if err != nil {
		return nil, "", NoAnswer(err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	switch {
	case s.Before != "":
		before, err := strconv.ParseUint(s.Before, 10, 64)
		if err != nil || before == 0 {
			return nil, "", sluice.InvalidParameter("after", "The parameter after must be the cursor of a page before.")
		}
		last = min(last, before-1)
	case !s.To.IsZero():
		last = lastUntil(ctx, stream, first, last, s.To, timeOf)
	}
	for sequence := last; sequence >= first && sequence > 0; sequence-- {
		if len(entries) == s.Limit || last-sequence == maxScan {
			return entries, strconv.FormatUint(sequence+1, 10), nil
		}
		entry, err := Read[T](ctx, stream, sequence)
		if err != nil {
			return nil, "", err
		}
		if entry == nil {
			continue
		}
		at := timeOf(entry)
		if at.Before(s.From) {
			break
		}
		if (s.To.IsZero() || !at.After(s.To)) && matches(sequence, entry) {
			entries = append(entries, *entry)
		}
	}
	return entries, "", nil
}

// lastUntil returns the sequence of the newest entry that is not after a time.
func lastUntil[T any](ctx context.Context, stream jetstream.Stream, first, last uint64, to time.Time, timeOf func(*T) time.Time) uint64 {
	n := sort.Search(int(last+1-first), func(i int) bool {
		entry, err := Read[T](ctx, stream, first+uint64(i))
		return err == nil && entry != nil && timeOf(entry).After(to)
	})
	return first + uint64(n) - 1
}

// Read returns one entry, nil if it is gone.
func Read[T any](ctx context.Context, stream jetstream.Stream, sequence uint64) (*T, error) {
	msg, err := stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, NoAnswer(err)
	}
	entry := new(T)
	return entry, json.Unmarshal(msg.Data, entry)
}
