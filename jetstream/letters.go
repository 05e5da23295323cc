package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	letterStream   = "DEADLETTERS"
	letterPrefix   = "svc.deadletter."
	letterMaxAge   = 30 * 24 * time.Hour
	letterMaxBytes = 1 << 30
)

// Letters implements sluice.DeadLetters on a stream of its own. A letter has its
// event in it, since the event may be gone before the letter is looked at.
type Letters struct {
	engine *Engine
	stream jetstream.Stream
	writer streamWriter
}

func (l *Letters) setUp(ctx, running context.Context) (err error) {
	l.stream, err = l.engine.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        letterStream,
		Subjects:    []string{letterPrefix + ">"},
		MaxAge:      letterMaxAge,
		MaxBytes:    letterMaxBytes,
		Replicas:    max(1, l.engine.opts.Replicas),
		AllowDirect: l.engine.server != nil, // a replica may be behind
		Duplicates:  l.engine.duplicateWindow(),
	})
	if err != nil {
		return err
	}
	l.writer, err = l.engine.startWriter(running, l.stream)
	return err
}

// add stores the letter of an event that a pipeline failed on.
func (l *Letters) add(ctx context.Context, d sluice.Delivery, event []byte, o sluice.Outcome) error {
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
	_, err = l.writer.write(ctx, letterPrefix+o.Pipeline, rand.Text(), data)
	return err
}

// Letters implements sluice.DeadLetters.
func (l *Letters) Letters(ctx context.Context, q sluice.DeadLetterQuery) (letters []sluice.DeadLetter, next string, err error) {
	if err := l.engine.connected(); err != nil {
		return nil, "", err
	}
	if q.Letter != "" {
		letter, err := l.letter(ctx, q.Letter)
		if letter == nil {
			return nil, "", err
		}
		return []sluice.DeadLetter{*letter}, "", err
	}
	return scan(ctx, l.stream, span{from: q.From, to: q.To, before: q.Before, limit: q.Limit},
		func(d *sluice.DeadLetter) time.Time { return d.Time },
		func(sequence uint64, d *sluice.DeadLetter) bool {
			d.Letter = strconv.FormatUint(sequence, 10)
			return q.Pipeline == "" || q.Pipeline == d.Pipeline
		})
}

// letter gives one letter, nil if there is none.
func (l *Letters) letter(ctx context.Context, name string) (*sluice.DeadLetter, error) {
	sequence, ok := letterSequence(name)
	if !ok {
		return nil, nil
	}
	letter, err := read[sluice.DeadLetter](ctx, l.stream, sequence)
	if letter != nil {
		letter.Letter = name
	}
	return letter, err
}

// letterSequence gives the place of a letter in the stream, if that can be one.
func letterSequence(name string) (sequence uint64, ok bool) {
	sequence, err := strconv.ParseUint(name, 10, 64)
	return sequence, err == nil && sequence > 0
}

// Drop implements sluice.DeadLetters.
func (l *Letters) Drop(ctx context.Context, name string) error {
	if err := l.engine.Ready(); err != nil {
		return err
	}
	letter, err := l.letter(ctx, name)
	if err != nil {
		return err
	}
	unknown := sluice.Errorf(sluice.NotFound, "letter-unknown", "There is no such dead letter; deadletter.get lists those there are.")
	if letter == nil {
		return unknown
	}
	sequence, _ := letterSequence(name)
	err = l.stream.DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return unknown
	}
	if err != nil {
		return unavailable("engine-unavailable", "The engine did not delete the dead letter.").Because(err)
	}
	return l.engine.syncStream(letterStream, "msgs")
}
