package deadletter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

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

// Groups implements sluice.DeadLetters. It reads all letters, each up to its event.
func (l *Store) Groups(ctx context.Context, q sluice.DeadLetterQuery) ([]sluice.DeadLetterGroup, error) {
	if err := l.host.Connected(); err != nil {
		return nil, err
	}
	subject := stream.DeadLetterPrefix + ">"
	if q.Pipeline != "" {
		if !sluice.ValidPipelineName(q.Pipeline) { // it would be another subject, or many
			return nil, nil
		}
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
	if err := letters.Stored(ctx, func(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
		letter, err := readLetter(msg.Data())
		if l.letters.Readable(&letter, meta.Sequence.Stream, msg.Subject(), err) {
			visit(letter)
		}
	}); err != nil {
		return stream.NoAnswer(err)
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
