// Package deadletter keeps the events that pipelines have failed on, each with its
// error, until they are replayed, deleted or too old. Package queue adds them.
package deadletter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// A Store implements sluice.DeadLetters on a stream of its own. A letter contains its
// event, since the event may be gone before anybody looks at the letter.
type Store struct {
	host   *stream.Host
	stream jetstream.Stream
	writer stream.Writer

	letters *stream.Entries[sluice.DeadLetter]

	mu       sync.Mutex
	repaired map[repair]bool // events that a replay went well of, and whose letters are to be dropped
}

// A repair names the event of a letter.
type repair struct{ pipeline, correlationID string }

// dropEvery is how often the letters of events are dropped that a replay went well of: many
// are dropped at a time, since finding them means reading all letters.
const dropEvery = time.Second

// NewStore returns a store. SetUp comes next.
func NewStore(h *stream.Host) *Store { return &Store{host: h, repaired: make(map[repair]bool)} }

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
	l.host.Every(running, dropEvery, func(time.Time) {
		if err := l.dropRepaired(running); err != nil && running.Err() == nil {
			l.host.Log.Warn("The dead letters of events that were replayed well could not be dropped; trying on.", "error", err)
		}
	})
	l.writer, err = l.host.StartWriter(running, l.stream, stream.WriterOptions{})
	return err
}

// Repaired says that a replay of an event went well in a pipeline: its letter is dropped soon,
// if there is one.
func (l *Store) Repaired(pipeline, correlationID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.repaired[repair{pipeline, correlationID}] = true
}

func (l *Store) dropRepaired(ctx context.Context) error {
	l.mu.Lock()
	repaired := l.repaired
	l.repaired = make(map[repair]bool)
	l.mu.Unlock()
	if len(repaired) == 0 {
		return nil
	}
	err := l.dropAll(ctx, repaired)
	if err != nil {
		l.mu.Lock()
		maps.Copy(l.repaired, repaired)
		l.mu.Unlock()
	}
	return err
}

func (l *Store) dropAll(ctx context.Context, repaired map[repair]bool) error {
	const page = 1000
	for before := ""; ; {
		found, next, err := l.letters.Scan(ctx, stream.ScanQuery{Before: before, Limit: page}, func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return repaired[repair{d.Pipeline, d.CorrelationID}] || repaired[repair{d.Pipeline, firstOf(d)}]
		})
		if err != nil {
			return err
		}
		for _, letter := range found {
			if err := l.Drop(ctx, letter.Letter); err != nil && !sluice.CodeLetterUnknown.Is(err) {
				return err
			}
		}
		if before = next; next == "" {
			return nil
		}
	}
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

// firstOf returns the correlation id of the event that the letter's event repeats, "" if it
// repeats none.
func firstOf(d *sluice.DeadLetter) string {
	var event struct{ FirstID string }
	_ = json.Unmarshal(d.Event, &event) // an event of another program repeats none
	return event.FirstID
}

// Letters implements sluice.DeadLetters.
func (l *Store) Letters(ctx context.Context, q sluice.DeadLetterQuery) (letters []sluice.DeadLetter, next string, err error) {
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
	return l.letters.Scan(ctx, stream.ScanQuery{From: q.From, To: q.To, Oldest: q.Oldest, Before: q.Before, Limit: q.Limit},
		func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return (q.Pipeline == "" || q.Pipeline == d.Pipeline) && (q.Code == "" || q.Code == d.Error.Code) && q.Covers(d)
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

// Drop implements sluice.DeadLetters.
func (l *Store) Drop(ctx context.Context, name string) error {
	if err := l.host.Ready(); err != nil {
		return err
	}
	letter, sequence, err := l.letter(ctx, name)
	if err != nil {
		return err
	}
	unknown := sluice.Errorf(sluice.CodeLetterUnknown, "There is no such dead letter; deadletter.get lists those there are.")
	if letter == nil {
		return unknown
	}
	err = l.stream.DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return unknown
	}
	if err != nil {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not delete the dead letter.").Because(err)
	}
	return l.host.SyncStream(stream.DeadLetters, "msgs")
}

// Forget removes the letters of events, by their correlation ids; the events came since a
// time. See stream.Remove.
func (l *Store) Forget(ctx context.Context, events map[string]bool, since time.Time, overwrite bool) error {
	for before := ""; ; {
		found, next, err := l.letters.Scan(ctx, stream.ScanQuery{From: since, Before: before, Limit: 1000}, func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return events[d.CorrelationID]
		})
		if err != nil {
			return err
		}
		for _, letter := range found {
			sequence, _ := strconv.ParseUint(letter.Letter, 10, 64) // it was one
			if err := stream.Remove(ctx, l.stream, sequence, overwrite); err != nil {
				return err
			}
		}
		if before = next; next == "" {
			return nil
		}
	}
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
func (l *Store) Info(ctx context.Context) (*jetstream.StreamInfo, error) { return l.stream.Info(ctx) }

// Groups implements sluice.DeadLetters. It reads all letters, each up to its event.
func (l *Store) Groups(ctx context.Context, q sluice.DeadLetterQuery) ([]sluice.DeadLetterGroup, error) {
	if err := l.host.Connected(); err != nil {
		return nil, err
	}
	subject := stream.DeadLetterPrefix + ">"
	if q.Pipeline != "" {
		subject = stream.DeadLetterPrefix + q.Pipeline
	}
	groups := make(map[[2]string]*sluice.DeadLetterGroup)
	err := l.each(ctx, subject, func(letter sluice.DeadLetter) {
		if letter.Time.Before(q.From) || !q.To.IsZero() && letter.Time.After(q.To) || !q.Covers(&letter) {
			return
		}
		key := [2]string{letter.Pipeline, letter.Error.Code}
		g := groups[key]
		if g == nil {
			g = &sluice.DeadLetterGroup{Pipeline: letter.Pipeline, Code: letter.Error.Code, First: letter.Time}
			groups[key] = g
		}
		g.Count++
		g.Last = letter.Time
	})
	if err != nil {
		return nil, err
	}
	found := make([]sluice.DeadLetterGroup, 0, len(groups))
	for _, g := range groups {
		found = append(found, *g)
	}
	slices.SortFunc(found, func(a, b sluice.DeadLetterGroup) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Pipeline, b.Pipeline), cmp.Compare(a.Code, b.Code))
	})
	return found, nil
}

// each visits the letters of a subject, oldest first, without their events.
func (l *Store) each(ctx context.Context, subject string, visit func(sluice.DeadLetter)) error {
	letters, err := l.host.Follow(ctx, l.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}})
	if err != nil {
		return stream.NoAnswer(err)
	}
	defer letters.Stop()
	for left := letters.Pending; left > 0; {
		msg, meta, err := letters.Next(ctx)
		if err != nil {
			return stream.NoAnswer(err)
		}
		left = meta.NumPending
		letter, err := readLetter(msg.Data())
		if l.letters.Readable(&letter, meta.Sequence.Stream, msg.Subject(), err) {
			visit(letter)
		}
	}
	return nil
}

// readLetter reads a letter up to its event, which may be megabytes.
func readLetter(data []byte) (letter sluice.DeadLetter, err error) {
	head, _, cut := bytes.Cut(data, []byte(`,"event":{`))
	if cut {
		head = append(bytes.Clone(head), '}')
	}
	if err = json.Unmarshal(head, &letter); err != nil {
		err = json.Unmarshal(data, &letter) // the cut was elsewhere
	}
	return letter, err
}
