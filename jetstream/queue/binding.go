package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// Bind implements sluice.Queue.
func (q *Queue) Bind(ctx context.Context, pattern string, concurrency int) (*sluice.Binding, error) {
	if err := q.host.Ready(); err != nil {
		return nil, err
	}
	info, err := q.events.Info(ctx)
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	// A sequence, never "from now on": if the engine loses the consumer's state, events
	// come twice instead of not at all.
	b := &sluice.Binding{
		ID:          strings.ToLower(rand.Text()),
		Pattern:     pattern,
		Concurrency: concurrency,
		Start:       info.State.LastSeq + 1,
	}
	if _, err := q.consumer(ctx, b); err != nil {
		return nil, stream.NotTaken("the binding", err)
	}
	return b, q.syncBinding(b)
}

// Unbind implements sluice.Queue.
func (q *Queue) Unbind(ctx context.Context, pipeline string, b *sluice.Binding) error {
	consumer, err := q.events.Consumer(ctx, b.ID)
	if err == nil {
		if err = q.events.DeleteConsumer(ctx, b.ID); err == nil {
			err = q.withdrawAll(ctx, pipeline, b.ID, consumer.CachedInfo())
		}
	}
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not end the binding.").Because(err)
	}
	q.Waiting.dropAll(ctx, b.ID)
	if err := q.LowWater.drop(ctx, b.ID); err != nil {
		return err
	}
	return q.syncBinding(b)
}

// syncBinding makes the creation or deletion of a binding durable.
func (q *Queue) syncBinding(b *sluice.Binding) error {
	return q.host.SyncStream(q.events.CachedInfo().Config.Name, "obs", b.ID)
}

// SubjectOf returns the subject that a message key is stored under.
func SubjectOf(key string) string {
	if strings.HasPrefix(key, sluice.EventPrefix) {
		return key
	}
	return stream.MessagePrefix + key
}

// subjectsOf returns the subjects that together hold all keys of a pattern.
func subjectsOf(pattern string) []string {
	if strings.HasPrefix(pattern, sluice.EventPrefix) {
		return Wildcards(pattern)
	}
	subjects := Wildcards(stream.MessagePrefix + pattern)
	// A pattern may fit events as well: if its first two groups fit svc.event.
	groups := strings.Split(pattern, ".")
	for i, fixed := range []string{"svc", "event"} {
		switch {
		case i == len(groups):
			return subjects
		case groups[i] == "#":
			return append(subjects, sluice.EventPrefix+">")
		case groups[i] != "*" && groups[i] != fixed:
			return subjects
		}
	}
	if len(groups) == 2 {
		return subjects
	}
	return append(subjects, Wildcards(sluice.EventPrefix+strings.Join(groups[2:], "."))...)
}

// Wildcards translates a pattern to the engine's. There > stands for one group or more,
// here # for any number.
func Wildcards(pattern string) []string {
	prefix, many := strings.CutSuffix(pattern, ".#")
	switch {
	case !many:
		return []string{pattern}
	case prefix+"." == stream.MessagePrefix || prefix+"." == sluice.EventPrefix:
		return []string{prefix + ".>"}
	}
	return []string{prefix, prefix + ".>"}
}

// reaches reports whether a binding takes events of a subject.
func reaches(binding *sluice.Binding, subject string) bool {
	if strings.HasPrefix(subject, stream.DirectPrefix) {
		return subject == stream.DirectPrefix+binding.ID
	}
	return sluice.KeyMatches(binding.Pattern, strings.TrimPrefix(subject, stream.MessagePrefix))
}
