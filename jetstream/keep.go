package jetstream

import (
	"context"
	"maps"
	"sync"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// keepEvery is how often events are looked for that their webhook no longer keeps.
const keepEvery = time.Second

// maxForgotten bounds the events that are forgotten at a time.
const maxForgotten = 500

// A keeping is how far the events of a webhook were looked through.
type keeping struct {
	keep time.Duration
	next map[string]uint64 // sequence to go on from, by subject
	due  time.Time         // no event is too old before then
}

// keepers are the webhooks that say how long their events are kept, by token. To look for
// them among a million would hold up calls.
type keepers struct{ sync.Map }

func (k *keepers) follow(before, after *sluice.Webhook) {
	switch {
	case after != nil && after.Keep > 0:
		k.Store(after.UUID, after)
	case before != nil && before.Keep > 0:
		k.Delete(before.UUID)
	}
}

// keepFor removes the events of webhooks that say how long they are kept, until ctx ends.
func (e *Engine) keepFor(ctx context.Context) {
	known := make(map[string]*keeping)
	e.host.Every(ctx, keepEvery, func(now time.Time) { e.expireAll(ctx, known, now) })
}

func (e *Engine) expireAll(ctx context.Context, known map[string]*keeping, now time.Time) {
	maps.DeleteFunc(known, func(token string, _ *keeping) bool {
		_, keeps := e.keepers.Load(token)
		return !keeps
	})
	for token, value := range e.keepers.Range {
		hook := value.(*sluice.Webhook)
		k := known[token.(string)]
		if k == nil || k.keep != hook.Keep {
			k = &keeping{keep: hook.Keep, next: make(map[string]uint64)}
			known[token.(string)] = k
		}
		if now.Before(k.due) {
			continue
		}
		if err := e.expire(ctx, hook, k, now); err != nil && ctx.Err() == nil && e.host.Connected() == nil {
			e.host.Log.Warn("Events that are no longer kept could not be removed; trying on.",
				"eventKey", hook.EventKey, "error", err)
		}
	}
}

// expire removes the events of a webhook that are too old. That is by the clock of the engine, which
// has stored them: this node's may be wrong.
func (e *Engine) expire(ctx context.Context, hook *sluice.Webhook, k *keeping, now time.Time) error {
	info, err := e.Stored.stream.Info(ctx)
	if err != nil {
		return err
	}
	due, limit := now.Add(k.keep), info.TimeStamp.Add(-k.keep)
	for _, subject := range []string{sluice.EventPrefix + hook.EventKey, stream.DirectPrefix + ">"} {
		for found := true; found; {
			var old []correlation.Envelope
			var at time.Time
			var err error
			old, at, found, err = e.older(ctx, hook.EventKey, subject, k, limit)
			if err != nil {
				return err
			}
			if left := at.Sub(limit); !at.IsZero() && now.Add(left).Before(due) {
				due = now.Add(left)
			}
			if err := e.forget(ctx, old, false); err != nil {
				clear(k.next) // so that they are found again
				return err
			}
		}
	}
	k.due = due
	return e.forgotten.drop(ctx, e.Stored.first.Load())
}

// older returns events with a key on a subject that were stored before a limit; at is the
// time of the next one after it. More says that there may be further ones.
func (e *Engine) older(
	ctx context.Context, eventKey, subject string, k *keeping, limit time.Time,
) (old []correlation.Envelope, at time.Time, more bool, err error) {
	for len(old) < maxForgotten {
		msg, err := stream.First(ctx, e.Stored.stream, k.next[subject]+1, subject)
		if msg == nil || err != nil {
			return old, at, false, err
		}
		if !msg.Time.Before(limit) {
			return old, msg.Time, false, nil
		}
		k.next[subject] = msg.Sequence
		if envelope, err := correlation.ReadEnvelope(msg); err == nil && envelope.EventKey == eventKey {
			old = append(old, envelope)
		}
	}
	return old, at, true, nil
}
