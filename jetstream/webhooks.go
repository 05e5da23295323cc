package jetstream

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sluice"
	"sluice/jetstream/record"
)

// Webhooks implements sluice.Webhooks on records whose keys are the tokens.
type Webhooks struct {
	records *record.Bucket[sluice.Webhook]
	changes atomic.Uint64 // of the records so far
	sorted  atomic.Pointer[sortedWebhooks]

	mu    sync.RWMutex
	byKey map[string]*sluice.Webhook // by event key
}

// sortedWebhooks are all webhooks in the order of their event keys.
type sortedWebhooks struct {
	changes uint64 // that they have in them
	hooks   []*sluice.Webhook
}

// newWebhooks gives the webhooks that are stored in records.
func newWebhooks(records *record.Bucket[sluice.Webhook]) *Webhooks {
	w := &Webhooks{records: records, byKey: make(map[string]*sluice.Webhook)}
	w.sorted.Store(new(sortedWebhooks))
	records.Follow(w.follow)
	return w
}

// follow keeps the index of event keys in step with the records.
func (w *Webhooks) follow(before, after *sluice.Webhook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before != nil && w.byKey[before.EventKey] == before {
		delete(w.byKey, before.EventKey)
	}
	if after != nil {
		w.byKey[after.EventKey] = after
	}
	w.changes.Add(1)
}

// Webhook implements sluice.WebhookFinder.
func (w *Webhooks) Webhook(ctx context.Context, token string) (sluice.Webhook, error) {
	hook, err := w.records.Get(ctx, token)
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
	changes := w.changes.Load() // before looking: what changes meanwhile is sorted again
	if sorted := w.sorted.Load(); sorted.changes == changes {
		return sorted.hooks
	}
	all := w.records.All()
	slices.SortFunc(all, func(a, b *sluice.Webhook) int { return cmp.Compare(a.EventKey, b.EventKey) })
	w.sorted.Store(&sortedWebhooks{changes, all})
	return all
}

// Put implements sluice.Webhooks.
func (w *Webhooks) Put(ctx context.Context, token string, u sluice.WebhookUpdate) (sluice.Webhook, error) {
	creating := token == ""
	if creating {
		token = uuid.NewString()
	}
	hook, err := w.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
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
		if holder := w.withKey(after.EventKey); holder != nil && holder.UUID != token {
			err := sluice.Errorf(sluice.Conflict, "event-key-taken", "Another webhook has this eventKey; choose another one, or edit that webhook by its uuid.")
			err.Parameter = "eventKey"
			return nil, err
		}
		return &after, nil
	})
	if err != nil {
		return sluice.Webhook{}, err
	}
	return *hook, nil
}

// withKey gives the webhook with an event key, nil if there is none.
func (w *Webhooks) withKey(key string) *sluice.Webhook {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byKey[key]
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
	_, err := w.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		if before == nil {
			return nil, noWebhook()
		}
		return nil, nil
	})
	return err
}
