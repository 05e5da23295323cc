package jetstream

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sluice"
)

// Webhooks implements sluice.Webhooks on a bucket whose keys are the tokens.
type Webhooks struct {
	bucket *bucket[sluice.Webhook]
	byKey  map[string]*sluice.Webhook        // by event key; under the bucket's lock
	sorted atomic.Pointer[[]*sluice.Webhook] // by event key; nil after a change
}

func newWebhooks(b *bucket[sluice.Webhook]) *Webhooks {
	w := &Webhooks{bucket: b, byKey: make(map[string]*sluice.Webhook)}
	b.follow = w.follow
	return w
}

// follow keeps the index of event keys in step with the copy.
func (w *Webhooks) follow(before, after *sluice.Webhook) {
	if before != nil && w.byKey[before.EventKey] == before {
		delete(w.byKey, before.EventKey)
	}
	if after != nil {
		w.byKey[after.EventKey] = after
	}
	w.sorted.Store(nil)
}

// Webhook implements sluice.WebhookFinder.
func (w *Webhooks) Webhook(ctx context.Context, token string) (sluice.Webhook, error) {
	hook, err := w.bucket.get(ctx, token)
	if err != nil {
		return sluice.Webhook{}, err
	}
	if hook == nil {
		return sluice.Webhook{}, noWebhook()
	}
	return *hook, nil
}

func noWebhook() error {
	return sluice.Errorf(sluice.NotFound, "webhook-not-found", "There is no webhook with that uuid; webhook.get lists those there are.")
}

// List implements sluice.Webhooks.
func (w *Webhooks) List(_ context.Context, q sluice.WebhookQuery) (hooks []sluice.Webhook, more bool, err error) {
	all := w.inOrder()
	start, _ := slices.BinarySearchFunc(all, q.After, func(h *sluice.Webhook, after string) int {
		if h.EventKey <= after {
			return -1
		}
		return 1
	})
	for _, h := range all[start:] {
		if !strings.Contains(h.EventKey, q.Search) {
			continue
		}
		if q.Limit > 0 && len(hooks) == q.Limit {
			return hooks, true, nil
		}
		hooks = append(hooks, *h)
	}
	return hooks, false, nil
}

func (w *Webhooks) inOrder() []*sluice.Webhook {
	if sorted := w.sorted.Load(); sorted != nil {
		return *sorted
	}
	w.bucket.mu.RLock()
	defer w.bucket.mu.RUnlock()
	all := make([]*sluice.Webhook, 0, len(w.byKey))
	for _, h := range w.byKey {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *sluice.Webhook) int { return cmp.Compare(a.EventKey, b.EventKey) })
	w.sorted.Store(&all)
	return all
}

// Put implements sluice.Webhooks.
func (w *Webhooks) Put(ctx context.Context, token string, u sluice.WebhookUpdate) (sluice.Webhook, error) {
	creating := token == ""
	if creating {
		token = uuid.NewString()
	}
	hook, err := w.bucket.change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		now := time.Now().UTC().Truncate(time.Millisecond)
		after := sluice.Webhook{
			UUID:             token,
			PayloadType:      sluice.Base64,
			MaxPayloadLength: sluice.DefaultPayloadLength,
			Created:          now,
		}
		switch {
		case before != nil:
			after = *before
		case !creating:
			return nil, noWebhook()
		}
		after.Updated = now
		update(&after, u)
		if holder := w.byKey[after.EventKey]; holder != nil && holder.UUID != token {
			return nil, sluice.Errorf(sluice.Conflict, "event-key-taken", "Another webhook has this eventKey; choose another one, or edit that webhook by its uuid.").About("eventKey")
		}
		return &after, nil
	})
	if err != nil {
		return sluice.Webhook{}, err
	}
	return *hook, nil
}

func update(hook *sluice.Webhook, u sluice.WebhookUpdate) {
	if u.EventKey != nil {
		hook.EventKey = *u.EventKey
	}
	if u.PayloadType != nil {
		hook.PayloadType = *u.PayloadType
	}
	if u.MaxPayloadLength != nil {
		hook.MaxPayloadLength = *u.MaxPayloadLength
	}
}

// Delete implements sluice.Webhooks.
func (w *Webhooks) Delete(ctx context.Context, token string) error {
	_, err := w.bucket.change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		if before == nil {
			return nil, noWebhook()
		}
		return nil, nil
	})
	return err
}
