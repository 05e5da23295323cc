package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// Entries reads a stream of JSON entries, each with its time. A message that can't be read
// is left out, so that the entries around it can be read: on an external engine another
// program may have published it.
type Entries[T any] struct {
	host   *Host
	stream jetstream.Stream
	timeOf func(*T) time.Time

	mu      sync.Mutex
	leftOut map[uint64]bool // the messages that the log has named
}

// NewEntries returns the entries of a stream.
func NewEntries[T any](h *Host, s jetstream.Stream, timeOf func(*T) time.Time) *Entries[T] {
	return &Entries[T]{host: h, stream: s, timeOf: timeOf, leftOut: make(map[uint64]bool)}
}

// Read returns one entry, nil if it is gone or can't be read.
func (e *Entries[T]) Read(ctx context.Context, sequence uint64) (*T, error) {
	msg, err := Found(e.stream.GetMsg(ctx, sequence))
	if msg == nil || err != nil {
		return nil, err
	}
	entry := new(T)
	if err := json.Unmarshal(msg.Data, entry); !e.Readable(entry, sequence, msg.Subject, err) {
		return nil, nil
	}
	return entry, nil
}

var errNoTime = errors.New("it has no time, which every entry has")

// Readable reports whether a message is an entry, given what was read of it and the error
// of reading it. It logs a message that is none. An entry must have a time: otherwise it
// would seem to be the oldest, and a scan would end there.
func (e *Entries[T]) Readable(entry *T, sequence uint64, subject string, err error) bool {
	if err == nil && e.timeOf(entry).IsZero() {
		err = errNoTime
	}
	if err != nil {
		e.leaveOut(sequence, subject, err)
	}
	return err == nil
}

// maxLeftOut bounds how many messages of a stream the log names.
const maxLeftOut = 1000

// leaveOut logs once that a message is left out, however often it is read.
func (e *Entries[T]) leaveOut(sequence uint64, subject string, err error) {
	e.mu.Lock()
	known := e.leftOut[sequence] || len(e.leftOut) == maxLeftOut
	if !known {
		e.leftOut[sequence] = true
	}
	last := len(e.leftOut) == maxLeftOut
	e.mu.Unlock()
	if known {
		return
	}
	name := e.stream.CachedInfo().Config.Name
	e.host.Log.Error("A stored message can't be read; it is left out.", "stream", name, "sequence", sequence,
		"subject", subject, "error", err)
	if last {
		e.host.Log.Error("Many stored messages can't be read; further ones are left out without being named.",
			"stream", name)
	}
}

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
