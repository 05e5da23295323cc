package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sluice"
	"sluice/webhook/form"
)

func (s *Store) put(ctx context.Context, p putParams) (view sluice.WebhookView, err error) {
	key, _ := p.Given["eventKey"].(string)
	if p.Token != "" && p.gives("eventKey") && !maySeeToken(ctx, key) {
		return view, sluice.NotPermitted(sluice.MaySeeTokens).About("token")
	}
	hook, err := s.edit(ctx, p)
	if err != nil {
		return view, err
	}
	view = s.show(ctx, hook)
	if p.DryRun && p.UUID == "" && p.Token == "" { // it has none yet
		view.UUID, view.WebhookURL, view.HookURL, view.ETag, view.Tokens = "", "", "", "", nil
	}
	if p.gives("eventKey") {
		view.Warnings = append(view.Warnings, unconventional(key)...)
	}
	return view, nil
}

// edit creates a webhook if the parameters have no token, otherwise it edits the one
// with that token: NotFound if there is none, Conflict if the event key is taken,
// Outdated if it was changed since the caller read it. Neither of two concurrent edits
// undoes the fields of the other.
func (s *Store) edit(ctx context.Context, p putParams) (hook sluice.Webhook, _ error) {
	if err := p.checkTarget(); err != nil {
		return hook, err
	}
	changes, err := p.changes(s.MaxKeep)
	if err != nil {
		return hook, err
	}
	token := form.Canonical(p.UUID)
	creating := token == ""
	if creating {
		token = cmp.Or(form.Canonical(p.Token), uuid.NewString())
	}
	revised, err := s.revised(ctx, token, creating, changes)
	if err != nil {
		return hook, err
	}
	var made sluice.Webhook
	_, err = sluice.Replace(ctx, s.records, token,
		func(before *sluice.Webhook) (*sluice.Webhook, error) {
			after, err := s.begin(p, token, creating, before)
			if err != nil {
				return nil, err
			}
			if revised != nil {
				if after.Trust, err = revised(before); err != nil {
					return nil, err
				}
			}
			for _, c := range changes {
				if !c.ofTrust {
					c.apply(&after)
				}
			}
			giveIDKey(before, &after)
			if err := s.check(ctx, p, before, &after); err != nil {
				return nil, err
			}
			if made = after; p.DryRun {
				return nil, sluice.ErrUnchanged
			}
			return &after, nil
		})
	return made, err
}

// begin returns the webhook that is changed, or a new one.
func (s *Store) begin(
	p putParams, token string, creating bool, before *sluice.Webhook,
) (after sluice.Webhook, err error) {
	at := now()
	after = sluice.Webhook{UUID: token, PayloadType: sluice.Base64, Created: at}
	switch {
	case creating && s.isTaken(token, before):
		return after, tokenTaken()
	case before != nil:
		after, err = *before, p.checkMatch(before)
	case !creating:
		return after, noWebhook("uuid")
	}
	after.Updated = later(at, before)
	return after, err
}

// giveIDKey gives a new webhook the key of its fingerprints, and an old one that has begun to
// redact.
func giveIDKey(before, after *sluice.Webhook) {
	if before == nil || after.IDKey == nil && after.Redact != nil {
		after.IDKey = sluice.RandomBytes(idKeySize)
	}
}

const idKeySize = 16 // bytes

// check refuses settings that contradict each other, or other webhooks, and edits that would give
// a stored credential to another server.
func (s *Store) check(ctx context.Context, p putParams, before, after *sluice.Webhook) error {
	if err := checkRedact(after); err != nil {
		return err
	}
	if err := bindCredential(before, after, p.gives("apiSecret")); err != nil {
		return err
	}
	if err := checkAsking(ctx, after, p.gives("apiSecret")); err != nil {
		return err
	}
	if holder, err := s.WithKey(after.EventKey); err == nil && holder.UUID != after.UUID {
		return sluice.CodeEventKeyTaken.Errorf(
			"Another webhook has this eventKey; choose another one, or edit that webhook by its uuid.").
			About("eventKey")
	}
	return nil
}

// revised returns a function that gives the trust of a webhook after a put. Checking a
// trust takes time, and changes of other webhooks must not wait for it. So it is
// checked beforehand, and again only if the webhook was changed meanwhile. It is nil if the
// put changes nothing about the trust.
func (s *Store) revised(
	ctx context.Context, token string, creating bool, changes []change,
) (func(*sluice.Webhook) (*sluice.Trust, error), error) {
	if !slices.ContainsFunc(changes, func(c change) bool { return c.ofTrust }) {
		return nil, nil
	}
	var read *sluice.Webhook
	if !creating {
		hook, err := s.Webhook(ctx, token)
		if err != nil {
			return nil, err
		}
		read = &hook
	}
	made, err := s.revise(ctx, read, changes)
	return func(before *sluice.Webhook) (*sluice.Trust, error) {
		if before == nil || read == nil || before.Updated.Equal(read.Updated) {
			return made, nil
		}
		return s.revise(ctx, before, changes)
	}, err
}

// changes reads the arguments of a put. It refuses values that no webhook can have.
func (p *putParams) changes(maxKeep time.Duration) (all []change, err error) {
	for _, s := range settings() {
		if given, ok := p.Given[s.Name]; ok {
			value, err := s.read(given, maxKeep)
			if err != nil {
				return nil, err
			}
			all = append(all, change{s, value})
		}
	}
	return all, nil
}
