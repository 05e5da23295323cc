package webhook

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice"
	"sluice/webhook/form"
)

// followTokens keeps the index of further tokens in step with a record.
func (s *Store) followTokens(before, after *sluice.Webhook) {
	if before != nil {
		for _, t := range before.Tokens {
			s.byToken.Delete(t.Token)
		}
	}
	if after != nil {
		for _, t := range after.Tokens {
			if t.Token != after.UUID {
				s.byToken.Store(t.Token, after.UUID)
			}
		}
	}
}

// isTaken reports whether a token is one of a webhook; holder is the webhook that has it as
// its uuid.
func (s *Store) isTaken(token string, holder *sluice.Webhook) bool {
	_, further := s.byToken.Load(token)
	return holder != nil || further
}

func tokenTaken() error {
	return sluice.CodeTokenTaken.Errorf(
		"A webhook has this token already; choose another one, or leave it out.").About("token")
}

func notAToken() error {
	return sluice.InvalidParameter("token",
		"The parameter token must be a UUID, such as 0b0bb4ca-5dbb-4cf7-9e4e-1b1b5ab2d8d4.")
}

func (s *Store) receiveURL(token string) string {
	return s.BaseURL + sluice.ReceivePath + "?token=" + token
}

func showTokens(h *sluice.Webhook, whole bool, now time.Time) []sluice.TokenView {
	views := make([]sluice.TokenView, 0, len(h.AllTokens()))
	for _, t := range h.AllTokens() {
		view := sluice.TokenView{
			Last6: sluice.Last6(t.Token), Description: t.Description, Created: t.Created, Expires: t.Expires,
			LastUsed: t.Used, Open: t.IsOpen(now),
		}
		if whole {
			view.Token = t.Token
		}
		views = append(views, view)
	}
	return views
}

// named returns the webhook by its uuid or its event key.
func (s *Store) named(ctx context.Context, uuid, eventKey string) (none sluice.Webhook, _ error) {
	switch {
	case uuid != "" && eventKey != "":
		return none, sluice.InvalidParameter("eventKey", "Give the uuid or the eventKey of the webhook, not both.")
	case uuid != "":
		return s.Webhook(ctx, form.Canonical(uuid))
	case eventKey != "":
		return s.WithKey(eventKey)
	}
	return none, sluice.CodeParameterMissing.Errorf("Give the uuid or the eventKey of the webhook.").
		About("eventKey")
}

type tokenAddParams struct {
	UUID        string `json:"uuid" audit:"last6" names:"webhook" doc:"The webhook, by its uuid."`
	EventKey    string `json:"eventKey" audit:"yes" names:"event" doc:"The webhook, by its event key."`
	Token       string `json:"token" audit:"last6" doc:"The token itself, to move it from another server, or the uuid of the webhook to open that again. Needs the permission webhook.token. Without it one is made."`
	Expires     string `json:"expires" audit:"yes" doc:"When it is closed by itself: a time such as 2030-01-31T12:00:00Z, or a duration from now such as 30d. Default: never."`
	Description string `json:"description" doc:"For people, such as who has it; up to 1000 characters."`
}

type tokenAdded struct {
	Token      string    `json:"token" doc:"The new token: secret."`
	Last6      string    `json:"last6" doc:"Its last 6 characters."`
	WebhookURL string    `json:"webhookUrl" doc:"Where the sender calls with it."`
	HookURL    string    `json:"hookUrl" doc:"The same without a query."`
	Expires    time.Time `json:"expires,omitzero" doc:"When it is closed by itself."`
}

func (s *Store) addToken(ctx context.Context, p tokenAddParams) (added tokenAdded, err error) {
	made := sluice.Token{
		Token: cmp.Or(form.Canonical(p.Token), uuid.NewString()), Description: p.Description,
		Created: now(),
	}
	if !sluice.IsToken(made.Token) {
		return added, notAToken()
	}
	if !isDescription(p.Description) {
		return added, sluice.InvalidParameter("description",
			"The parameter description must be text of at most 1000 characters.")
	}
	if made.Expires, err = expiry(p.Expires, made.Created); err != nil {
		return added, err
	}
	hook, err := s.named(ctx, p.UUID, p.EventKey)
	if err == nil && p.Token != "" && !maySeeToken(ctx, hook.EventKey) {
		err = sluice.NotPermitted(sluice.MaySeeTokens).About("token")
	}
	if err == nil {
		err = s.open(ctx, hook.UUID, made)
	}
	if err != nil {
		return added, err
	}
	return tokenAdded{
		Token: made.Token, Last6: sluice.Last6(made.Token), WebhookURL: s.receiveURL(made.Token),
		HookURL: s.BaseURL + sluice.HookPath + made.Token, Expires: made.Expires,
	}, nil
}

// expiry returns the time that the parameter expires means, zero if it is not given.
func expiry(text string, now time.Time) (none time.Time, _ error) {
	if text == "" {
		return none, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		var d time.Duration
		if d, err = sluice.ParseAge(text); err == nil {
			at = now.Add(d)
		}
	}
	if err != nil || !at.After(now) || at.Year() > 9999 {
		return none, sluice.InvalidParameter("expires", "The parameter expires must be a time to come, such "+
			"as 2030-01-31T12:00:00Z, or a duration from now, such as 30d.")
	}
	return at.UTC(), nil
}

// open opens a webhook to a token. Further ones that have expired are dropped: they say
// nothing any more.
func (s *Store) open(ctx context.Context, uuid string, made sluice.Token) error {
	_, err := s.records.Change(ctx, uuid,
		func(before *sluice.Webhook, all map[string]*sluice.Webhook) (*sluice.Webhook, error) {
			if before == nil {
				return nil, noWebhook("uuid")
			}
			tokens := slices.DeleteFunc(slices.Clone(before.AllTokens()), func(t sluice.Token) bool {
				return t.Token != uuid && !t.IsOpen(made.Created)
			})
			known := slices.IndexFunc(tokens, func(t sluice.Token) bool { return t.Token == made.Token })
			switch holder, further := s.byToken.Load(made.Token); {
			case known >= 0 && !tokens[known].IsOpen(made.Created): // the uuid: others were dropped
				tokens[known].Closed, tokens[known].Expires = false, made.Expires
				tokens[known].Description = cmp.Or(made.Description, tokens[known].Description)
			case known >= 0, further && holder != uuid, all[made.Token] != nil:
				return nil, tokenTaken()
			default:
				tokens = append(tokens, made)
			}
			if openTokens(tokens, made.Created) > sluice.MaxTokens {
				return nil, sluice.CodeTooManyTokens.Errorf(
					"The webhook has %d open tokens, as many as it may have; delete one that nobody uses.",
					sluice.MaxTokens)
			}
			after := *before
			after.Tokens, after.Updated = tokens, later(now(), before)
			return &after, nil
		})
	return err
}

func openTokens(tokens []sluice.Token, now time.Time) (count int) {
	for _, t := range tokens {
		if t.IsOpen(now) {
			count++
		}
	}
	return count
}

type tokenDeleteParams struct {
	UUID     string `json:"uuid" audit:"last6" names:"webhook" doc:"The webhook, by its uuid."`
	EventKey string `json:"eventKey" audit:"yes" names:"event" doc:"The webhook, by its event key."`
	Token    string `json:"token" audit:"last6" required:"true" doc:"The token, or its last 6 characters where no other token of the webhook ends so."`
}

type tokenDeleted struct {
	Last6   string `json:"last6" doc:"Its last 6 characters."`
	Deleted bool   `json:"deleted" doc:"No call comes with it any more."`
}

func (s *Store) deleteToken(ctx context.Context, p tokenDeleteParams) (done tokenDeleted, _ error) {
	named, err := s.named(ctx, p.UUID, p.EventKey)
	if err != nil {
		return done, err
	}
	_, err = sluice.Edit(ctx, s.records, named.UUID, noWebhook("uuid"), func(hook *sluice.Webhook) error {
		tokens, at := slices.Clone(hook.AllTokens()), now()
		place, err := placeOf(tokens, form.Canonical(p.Token))
		if err != nil {
			return err
		}
		token := tokens[place].Token
		if tokens[place].IsOpen(at) && openTokens(tokens, at) == 1 {
			return sluice.CodeLastToken.Errorf("It is the last open token of the webhook, which nobody could " +
				"call then: add another one first, or set disabled.").About("token")
		}
		if token == hook.UUID {
			tokens[place].Closed = true
		} else {
			tokens = slices.Delete(tokens, place, place+1)
		}
		hook.Tokens, hook.Updated = tokens, later(at, hook)
		done = tokenDeleted{sluice.Last6(token), true}
		return nil
	})
	return done, err
}

// placeOf returns the place of a token that is not closed already.
func placeOf(tokens []sluice.Token, given string) (int, error) {
	const end = 6
	found := -1
	for i, t := range tokens {
		if t.Closed || t.Token != given && (len(given) != end || !strings.HasSuffix(t.Token, given)) {
			continue
		}
		if found >= 0 {
			return 0, sluice.InvalidParameter("token", "Several tokens of the webhook end so; give all of it.")
		}
		found = i
	}
	if found < 0 {
		return 0, sluice.CodeTokenUnknown.Errorf(
			"The webhook has no such token; webhook.get shows those there are.").About("token")
	}
	return found, nil
}
