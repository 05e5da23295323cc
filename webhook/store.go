package webhook

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"sluice"
	"sluice/spelling"
)

// Records are the stored webhooks, by their tokens.
type Records interface {
	sluice.Records[sluice.Webhook]

	// Follow tells of each record that is there, and then of each change,
	// before the change is answered: before is nil for a new record, after
	// for a deleted one. What follow knows is in step with the records that a
	// decision sees.
	Follow(follow func(before, after *sluice.Webhook))
}

// A Store has the webhooks, and keeps the rules they are stored by: what a new
// one is like, and that an event key is taken once.
type Store struct {
	records Records

	// mu is never held for long: changes of the records wait for it, and calls for
	// them.
	mu    sync.RWMutex
	byKey order
}

// NewStore returns the webhooks that are stored in records.
func NewStore(records Records) *Store {
	s := &Store{records: records}
	records.Follow(s.follow)
	return s
}

// follow keeps the order of event keys in step with the records.
func (s *Store) follow(before, after *sluice.Webhook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before != nil && (after == nil || after.EventKey != before.EventKey) {
		s.byKey.remove(before)
	}
	if after != nil {
		s.byKey.put(after)
	}
}

// Webhook returns the webhook with that token, NotFound if there is none.
func (s *Store) Webhook(ctx context.Context, token string) (sluice.Webhook, error) {
	hook, err := s.records.Get(ctx, token)
	if err != nil {
		return sluice.Webhook{}, err
	}
	if hook == nil {
		return sluice.Webhook{}, noWebhook("uuid")
	}
	return *hook, nil
}

// withKey returns the webhook with that event key, NotFound if there is none.
func (s *Store) withKey(key string) (sluice.Webhook, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if hooks := s.byKey.from(key); len(hooks) > 0 && hooks[0].EventKey == key {
		return *hooks[0], nil
	}
	return sluice.Webhook{}, noWebhook("event key").About("eventKey")
}

// NearestKey returns the event key of a webhook that may be meant by a key: the same
// if a webhook has it, or one that is like it; "" if there is none.
func (s *Store) NearestKey(key string) string {
	if _, err := s.withKey(key); err == nil {
		return key
	}
	const compared = 1000
	hooks, _ := s.list("", "", compared)
	tails := make(map[string]string, len(hooks)) // what all keys begin with says nothing
	for _, hook := range hooks {
		tails[strings.TrimPrefix(hook.EventKey, keyPrefix)] = hook.EventKey
	}
	return tails[spelling.Nearest(strings.TrimPrefix(key, keyPrefix), slices.Sorted(maps.Keys(tails)))]
}

func noWebhook(what string) *sluice.Error {
	return sluice.Errorf(sluice.CodeWebhookNotFound, "There is no webhook with that %s; webhook.get lists those there are.", what)
}

// list returns the webhooks of a query in the order of their event keys, and
// whether there are more behind them: those whose event key has search in it and
// comes behind after, limit of them or all if it is 0.
func (s *Store) list(search, after string, limit int) (hooks []*sluice.Webhook, more bool) {
	for {
		last, ended := s.visit(after, func(h *sluice.Webhook) (goOn bool) {
			if !strings.Contains(h.EventKey, search) {
				return true
			}
			if more = limit > 0 && len(hooks) == limit; !more {
				hooks = append(hooks, h)
			}
			return !more
		})
		if ended {
			return hooks, more
		}
		after = last
		runtime.Gosched() // a search among a million must not keep calls from the processor
	}
}

// SignedWith returns the event keys of the webhooks whose calls may be signed with a
// stored secret, in their order.
func (s *Store) SignedWith(secret string) (keys []string) {
	hooks, _ := s.list("", "", 0)
	for _, hook := range hooks {
		if hook.Trust != nil && slices.ContainsFunc(strings.Split(hook.Trust.Signing, ","), func(part string) bool {
			name, ok := storedName(part)
			return ok && name == secret
		}) {
			keys = append(keys, hook.EventKey)
		}
	}
	return keys
}

// visit shows some of the webhooks behind an event key, in their order, until it is
// told not to go on. It gives the last of their event keys, or that there are no
// more to be shown.
func (s *Store) visit(after string, show func(*sluice.Webhook) (goOn bool)) (last string, ended bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	some := s.byKey.from(after + "\x00")
	for _, h := range some {
		if !show(h) {
			return "", true
		}
	}
	if len(some) == 0 {
		return "", true
	}
	return some[len(some)-1].EventKey, false
}

// An update is what a put asks for; nil means not given.
type update struct {
	eventKey         *string
	payloadType      *sluice.PayloadType
	maxPayloadLength *int
	multipart        *sluice.Multipart
	disabled         *bool
	description      *string

	ifUpdated time.Time // only if it was last changed then; zero: at any time
	dryRun    bool      // store nothing
	trusts    bool      // trust is given
	trust     *sluice.Trust
}

// put creates a webhook if token is empty, otherwise it edits the one with that
// token: NotFound if there is none, Conflict if the event key is taken. Of two
// concurrent edits neither undoes the fields of the other.
func (s *Store) put(ctx context.Context, token string, u update) (sluice.Webhook, error) {
	creating := token == ""
	if creating {
		token = uuid.NewString()
	}
	var checked *sluice.Webhook
	hook, err := s.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
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
			return nil, noWebhook("uuid")
		}
		if before != nil && !u.ifUpdated.IsZero() && !before.Updated.Equal(u.ifUpdated) {
			return nil, changedMeanwhile()
		}
		after.Updated = later(now, before)
		u.apply(&after)
		if holder, err := s.withKey(after.EventKey); err == nil && holder.UUID != token {
			return nil, sluice.Errorf(sluice.CodeEventKeyTaken, "Another webhook has this eventKey; choose another one, or edit that webhook by its uuid.").About("eventKey")
		}
		if u.dryRun {
			checked = &after
			return nil, errDryRun
		}
		return &after, nil
	})
	if errors.Is(err, errDryRun) {
		return *checked, nil
	}
	if err != nil {
		return sluice.Webhook{}, err
	}
	return *hook, nil
}

// errDryRun ends a change that is only to be checked.
var errDryRun = errors.New("nothing is to be stored")

// later returns the time of a change, which tells it from every change before.
func later(now time.Time, before *sluice.Webhook) time.Time {
	if before != nil && !now.After(before.Updated) {
		return before.Updated.Add(time.Millisecond)
	}
	return now
}

func changedMeanwhile() error {
	return sluice.Errorf(sluice.CodeChangedMeanwhile, "The webhook was changed since it was read; read it again, and then change it.").
		About("ifUpdated")
}

func (u update) apply(hook *sluice.Webhook) {
	if u.eventKey != nil {
		hook.EventKey = *u.eventKey
	}
	if u.payloadType != nil {
		hook.PayloadType = *u.payloadType
	}
	if u.maxPayloadLength != nil {
		hook.MaxPayloadLength = *u.maxPayloadLength
	}
	if u.multipart != nil {
		hook.Multipart = *u.multipart
	}
	if u.disabled != nil {
		hook.Disabled = *u.disabled
	}
	if u.description != nil {
		hook.Description = *u.description
	}
	if u.trusts {
		hook.Trust = u.trust
	}
}

// remove deletes a webhook, NotFound if there is none.
func (s *Store) remove(ctx context.Context, token string) error {
	_, err := s.records.Change(ctx, token, func(before *sluice.Webhook, _ map[string]*sluice.Webhook) (*sluice.Webhook, error) {
		if before == nil {
			return nil, noWebhook("uuid")
		}
		return nil, nil
	})
	return err
}
