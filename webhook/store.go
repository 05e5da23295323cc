package webhook

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"sluice"
	"sluice/spelling"
	"sluice/webhook/form"
	"sluice/webhook/trust"
)

// A Store has the webhooks, and keeps the rules they are stored by: what a new
// one is like, and that no two webhooks have the same event key.
type Store struct {
	MaxKeep time.Duration // for which a webhook may keep its events
	Trusts  *trust.Trusts // of which each must check calls before it is stored
	BaseURL string        // what callers put before /api/v3

	records sluice.FollowedRecords[sluice.Webhook] // by their tokens

	// mu is never held for long: changes of the records wait for it, and calls
	// wait for those.
	mu    sync.RWMutex
	byKey *btree.BTreeG[*sluice.Webhook]

	byToken sync.Map // of further tokens, to uuids

	certificates atomic.Int64 // webhooks that demand one of their callers
}

// NewStore returns the webhooks that are stored in records.
func NewStore(records sluice.FollowedRecords[sluice.Webhook]) *Store {
	s := &Store{records: records, byKey: newOrder()}
	records.Follow(s.follow)
	return s
}

// newOrder returns an empty tree of webhooks, sorted by event key. A damaged store
// may have two webhooks with the same key; then the token decides.
func newOrder() *btree.BTreeG[*sluice.Webhook] {
	return btree.NewBTreeGOptions(func(a, b *sluice.Webhook) bool {
		return cmp.Or(cmp.Compare(a.EventKey, b.EventKey), cmp.Compare(a.UUID, b.UUID)) < 0
	}, btree.Options{NoLocks: true})
}

// follow keeps the order of event keys in step with the records.
func (s *Store) follow(before, after *sluice.Webhook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if trust.DemandsOf(before).ClientCertificate != "" {
		s.certificates.Add(-1)
	}
	if trust.DemandsOf(after).ClientCertificate != "" {
		s.certificates.Add(1)
	}
	s.followTokens(before, after)
	if before != nil && (after == nil || after.EventKey != before.EventKey) {
		s.byKey.Delete(before)
	}
	if after != nil {
		s.byKey.Set(after)
	}
}

// DemandsCertificates reports whether some webhook takes calls with a client certificate
// only.
func (s *Store) DemandsCertificates() bool { return s.certificates.Load() > 0 }

// Webhook returns the webhook with that token, NotFound if there is none.
func (s *Store) Webhook(ctx context.Context, token string) (none sluice.Webhook, _ error) {
	hook, err := s.records.Get(ctx, token)
	if err != nil {
		return none, err
	}
	if hook == nil {
		return none, noWebhook("uuid")
	}
	return *hook, nil
}

// OpenedBy returns the webhook that a token opens now, NotFound if it opens none.
func (s *Store) OpenedBy(ctx context.Context, token string) (none sluice.Webhook, _ error) {
	uuid, further := s.byToken.Load(token)
	if !further {
		uuid = token
	}
	hook, err := s.Webhook(ctx, uuid.(string))
	if err != nil && !further { // the look-up may have caught up with another node
		if uuid, further = s.byToken.Load(token); further {
			hook, err = s.Webhook(ctx, uuid.(string))
		}
	}
	if err == nil && !hook.OpenedBy(token, time.Now()) {
		return none, noWebhook("token")
	}
	return hook, err
}

// KeyOf returns the event key of the webhook with that token, "" if there is none.
func (s *Store) KeyOf(ctx context.Context, token string) string {
	hook, err := s.Webhook(ctx, form.Canonical(token))
	if err != nil {
		return ""
	}
	return hook.EventKey
}

// WithKey returns the webhook with that event key, NotFound if there is none.
func (s *Store) WithKey(key string) (none sluice.Webhook, _ error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found *sluice.Webhook
	s.byKey.Ascend(&sluice.Webhook{EventKey: key}, func(hook *sluice.Webhook) bool {
		found = hook
		return false
	})
	if found == nil || found.EventKey != key {
		return none, noKey()
	}
	return *found, nil
}

// NearestKey returns the event key that a caller may have meant: the given one if a
// webhook has it, otherwise a similar one that is covered; "" if there is none.
func (s *Store) NearestKey(cover sluice.Cover, key string) string {
	if _, err := s.WithKey(key); err == nil && cover.Event(key) {
		return key
	}
	const compared = 1000
	hooks, _ := s.list(cover, "", "", compared)
	tails := make(map[string]string, len(hooks)) // keys without the prefix that they share
	for _, hook := range hooks {
		tails[strings.TrimPrefix(hook.EventKey, sluice.WebhookPrefix)] = hook.EventKey
	}
	return tails[spelling.Nearest(strings.TrimPrefix(key, sluice.WebhookPrefix), slices.Sorted(maps.Keys(tails)))]
}

// Base64Key returns a covered event key that matches a pattern of message keys and whose
// webhook passes payloads on as base64; "" if there is none.
func (s *Store) Base64Key(cover sluice.Cover, pattern string) (found string) {
	hooks, _ := s.pick(func(h *sluice.Webhook) bool {
		return h.PayloadType == sluice.Base64 && cover.Event(h.EventKey) &&
			sluice.KeyMatches(pattern, sluice.EventPrefix+h.EventKey)
	}, "", 1)
	if len(hooks) > 0 {
		found = hooks[0].EventKey
	}
	return found
}

func noWebhook(what string) *sluice.Error {
	return sluice.CodeWebhookNotFound.Errorf(
		"There is no webhook with that %s; webhook.get lists those there are.", what)
}

// list returns the covered webhooks whose event key contains search and comes after the
// given key, in the order of their keys, and whether there are more. A limit of 0
// means all of them.
func (s *Store) list(cover sluice.Cover, search, after string, limit int) (hooks []*sluice.Webhook, more bool) {
	return s.pick(func(h *sluice.Webhook) bool {
		return strings.Contains(h.EventKey, search) && cover.Event(h.EventKey)
	}, after, limit)
}

// maxVisited is how many webhooks are visited before others may have the processor: a search among a million must
// not keep calls from it.
const maxVisited = 512

// pick is list for those that fit. It goes through a copy of the order, so nobody waits for it.
func (s *Store) pick(fits func(*sluice.Webhook) bool, after string, limit int) (hooks []*sluice.Webhook, more bool) {
	s.mu.Lock()
	all := s.byKey.Copy() // of its root alone: who changes a part copies that
	s.mu.Unlock()
	visited := 0
	all.Ascend(&sluice.Webhook{EventKey: after + "\x00"}, func(hook *sluice.Webhook) (goOn bool) {
		if visited++; visited%maxVisited == 0 {
			runtime.Gosched()
		}
		if !fits(hook) {
			return true
		}
		if more = limit > 0 && len(hooks) == limit; !more {
			hooks = append(hooks, hook)
		}
		return !more
	})
	return hooks, more
}

// Expecting returns the webhooks that say how often they are called.
func (s *Store) Expecting() []*sluice.Webhook {
	hooks, _ := s.pick(func(h *sluice.Webhook) bool { return h.ExpectEvery != 0 }, "", 0)
	return hooks
}

// Expects reports whether calls of a webhook are expected.
func (s *Store) Expects(eventKey string) bool {
	hook, err := s.WithKey(eventKey)
	return err == nil && hook.ExpectEvery != 0
}

// Asked returns the webhooks whose senders can be asked about them.
func (s *Store) Asked() []*sluice.Webhook {
	hooks, _ := s.pick(func(h *sluice.Webhook) bool { return h.APIURL != "" }, "", 0)
	return hooks
}

// SignedWith returns the event keys of the webhooks that use a stored secret, to check
// signatures or to ask their senders, in order.
func (s *Store) SignedWith(secret string) (keys []string) {
	hooks, _ := s.list(sluice.Cover{}, "", "", 0)
	for _, hook := range hooks {
		if slices.ContainsFunc(append(strings.Split(trust.DemandsOf(hook).Signing, ","), hook.APISecret),
			func(part string) bool {
				name, ok := trust.StoredName(part)
				return ok && name == secret
			}) {
			keys = append(keys, hook.EventKey)
		}
	}
	return keys
}

// now returns the time, as records have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// later returns the time of a change. It is later than that of every change before.
func later(now time.Time, before *sluice.Webhook) time.Time {
	if before != nil && !now.After(before.Updated) {
		return before.Updated.Add(time.Millisecond)
	}
	return now
}

// maySeeToken reports whether the user may see and choose tokens of a webhook.
func maySeeToken(ctx context.Context, eventKey string) bool {
	return sluice.UserFrom(ctx).Cover(sluice.MaySeeTokens).Event(eventKey)
}

func noKey() error { return noWebhook("event key").About("eventKey") }
