// Package deadletter keeps the events that pipelines have failed on, each with its
// error, until they are replayed, deleted or too old. Package queue adds them.
package deadletter

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// A Store implements sluice.DeadLetters on a stream of its own. A letter contains its
// event, since the event may be gone before anybody looks at the letter.
type Store struct {
	Shares stream.Shares // of pipelines

	host   *stream.Host
	stream stream.Written

	letters *stream.Entries[sluice.DeadLetter]
	bytes   int64

	mu       sync.Mutex
	repaired map[repair]bool // events that a replay went well of, and whose letters are to be dropped
}

// NewStore returns a store for so many bytes of letters. SetUp comes next.
func NewStore(h *stream.Host, bytes int64) *Store {
	return &Store{
		Shares:   stream.Shares{What: "dead letters", Prefix: stream.DeadLetterPrefix, Bytes: stream.Bound(bytes)},
		host:     h,
		bytes:    bytes,
		repaired: make(map[repair]bool),
	}
}

// SetUp creates the stream where it is missing.
func (l *Store) SetUp(ctx, running context.Context) (err error) {
	l.stream, err = l.host.OpenWritten(ctx, running, jetstream.StreamConfig{
		Name:        stream.DeadLetters,
		Subjects:    []string{stream.DeadLetterPrefix + ">"},
		MaxAge:      stream.DeadLetterAge,
		MaxBytes:    l.bytes,
		AllowDirect: l.host.DirectReads,
	}, stream.WriterOptions{})
	if err != nil {
		return err
	}
	l.letters = stream.NewEntries(l.host, l.stream, func(d *sluice.DeadLetter) time.Time { return d.Time })
	l.Shares.Keep(running, l.host, l.stream)
	l.host.TryEvery(running, dropEvery,
		"The dead letters of events that were replayed well could not be dropped; trying on.", l.dropRepaired)
	return nil
}

// Letters implements sluice.DeadLetters.
func (l *Store) Letters(
	ctx context.Context, q sluice.DeadLetterQuery,
) (letters []sluice.DeadLetter, next string, err error) {
	if err := l.host.Connected(); err != nil {
		return nil, "", err
	}
	if q.Letter != "" {
		letter, _, err := l.letter(ctx, q.Letter)
		if letter == nil || !q.Covers(letter) {
			return nil, "", err
		}
		return []sluice.DeadLetter{*letter}, "", err
	}
	return l.letters.Scan(ctx, stream.ScanQuery{
		From: q.From, To: q.To, Oldest: q.Oldest, Before: q.Before, Limit: q.Limit,
	},
		func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return (q.Pipeline == "" || q.Pipeline == d.Pipeline) && (q.Code == "" || q.Code == d.Error.Code) &&
				q.Covers(d)
		})
}

// letter returns one letter, nil if there is none. Its sequence is its name.
func (l *Store) letter(ctx context.Context, name string) (letter *sluice.DeadLetter, sequence uint64, err error) {
	if sequence, err = strconv.ParseUint(name, 10, 64); err != nil || sequence == 0 {
		return nil, 0, nil //nolint:nilerr // no letter has such a name
	}
	if letter, err = l.letters.Read(ctx, sequence); letter != nil {
		letter.Letter = name
	}
	return letter, sequence, err
}
