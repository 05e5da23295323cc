// Package deadletter keeps the events that pipelines have failed on, each with its
// error, until they are replayed, deleted or too old. Package queue adds them.
package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// A Store implements sluice.DeadLetters on a stream of its own. A letter contains its
// event, since the event may be gone before anybody looks at the letter.
type Store struct {
	host   *stream.Host
	stream jetstream.Stream
	writer stream.Writer

	letters *stream.Entries[sluice.DeadLetter]
}

// NewStore returns a store. SetUp comes next.
func NewStore(h *stream.Host) *Store { return &Store{host: h} }

// SetUp creates the stream where it is missing.
func (l *Store) SetUp(ctx, running context.Context) (err error) {
	l.stream, err = l.host.OpenStream(ctx, l.host.JS, l.host.Config(jetstream.StreamConfig{
		Name:        stream.DeadLetters,
		Subjects:    []string{stream.DeadLetterPrefix + ">"},
		MaxAge:      stream.DeadLetterAge,
		MaxBytes:    stream.DeadLetterBytes,
		AllowDirect: l.host.DirectReads,
	}))
	if err != nil {
		return err
	}
	l.letters = stream.NewEntries(l.host, l.stream, func(d *sluice.DeadLetter) time.Time { return d.Time })
	l.writer, err = l.host.StartWriter(running, l.stream, stream.WriterOptions{})
	return err
}

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
		letter.Error = *o.Error
	}
	data, err := json.Marshal(letter)
	if err != nil {
		return err
	}
	_, err = l.writer.Write(ctx, stream.DeadLetterPrefix+o.Pipeline, nil, data)
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

// Letters implements sluice.DeadLetters.
func (l *Store) Letters(ctx context.Context, q sluice.DeadLetterQuery) (letters []sluice.DeadLetter, next string, err error) {
	if err := l.host.Connected(); err != nil {
		return nil, "", err
	}
	if q.Letter != "" {
		letter, err := l.letter(ctx, q.Letter)
		if letter == nil {
			return nil, "", err
		}
		return []sluice.DeadLetter{*letter}, "", err
	}
	return l.letters.Scan(ctx, stream.ScanQuery{From: q.From, To: q.To, Oldest: q.Oldest, Before: q.Before, Limit: q.Limit},
		func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return (q.Pipeline == "" || q.Pipeline == d.Pipeline) && (q.Code == "" || q.Code == d.Error.Code)
		})
}

// letter returns one letter, nil if there is none.
func (l *Store) letter(ctx context.Context, name string) (*sluice.DeadLetter, error) {
	sequence, ok := letterSequence(name)
	if !ok {
		return nil, nil
	}
	letter, err := l.letters.Read(ctx, sequence)
	if letter != nil {
		letter.Letter = name
	}
	return letter, err
}

// letterSequence returns the sequence that names a letter.
func letterSequence(name string) (sequence uint64, ok bool) {
	sequence, err := strconv.ParseUint(name, 10, 64)
	return sequence, err == nil && sequence > 0
}

// Drop implements sluice.DeadLetters.
func (l *Store) Drop(ctx context.Context, name string) error {
	if err := l.host.Ready(); err != nil {
		return err
	}
	letter, err := l.letter(ctx, name)
	if err != nil {
		return err
	}
	unknown := sluice.Errorf(sluice.CodeLetterUnknown, "There is no such dead letter; deadletter.get lists those there are.")
	if letter == nil {
		return unknown
	}
	sequence, _ := letterSequence(name)
	err = l.stream.DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return unknown
	}
	if err != nil {
		return stream.Unavailable(sluice.CodeEngineUnavailable, "The engine did not delete the dead letter.").Because(err)
	}
	return l.host.SyncStream(stream.DeadLetters, "msgs")
}

// ByPipeline counts the letters of each pipeline.
func (l *Store) ByPipeline(ctx context.Context) (map[string]int64, error) {
	info, err := l.stream.Info(ctx, jetstream.WithSubjectFilter(stream.DeadLetterPrefix+">"))
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(info.State.Subjects))
	for subject, messages := range info.State.Subjects {
		counts[strings.TrimPrefix(subject, stream.DeadLetterPrefix)] = int64(messages)
	}
	return counts, nil
}

// Info asks the engine about the stream of dead letters.
func (l *Store) Info(ctx context.Context) (*jetstream.StreamInfo, error) {
	return l.stream.Info(ctx)
}
