package webhook

import (
	"cmp"
	"context"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/command"
)

type putParams struct {
	EventKey         *string             `json:"eventKey" audit:"yes" names:"new event" doc:"Name of the webhook and key that pipelines listen to, such as webhook.lead.created. Unique; required to create."`
	PayloadType      *sluice.PayloadType `json:"payloadType" alias:"payloadHandling" enum:"base64,raw,ignore" doc:"How the payload travels in the event: base64 (default of the API), raw (as the JSON or text it is; default of portal and command line), or ignore (not at all)."`
	MaxPayloadLength *int                `json:"maxPayloadLength" min:"1" max:"4194304" doc:"Largest accepted payload in bytes. Default 512000."`
	UUID             string              `json:"uuid" audit:"last6" names:"webhook" doc:"Token of the webhook to edit. Without it a new webhook is created."`
	Token            string              `json:"token" audit:"last6" doc:"Token of a new webhook, to move one with its URL from another server: a UUID that nobody uses. Needs the permission webhook.token. Without it one is made."`
	Provider         *string             `json:"provider" audit:"yes" doc:"The system that calls, if it is a known one: its signature, handshake and delivery id are checked as it makes them. provider.get lists them; empty removes it."`
	SigningSecret    *string             `json:"signingSecret" doc:"The secret shared with the sender, or secret:<name> of a stored one; two, separated by a comma, while it is being changed. It is stored encrypted and never shown; empty removes it."`
	Signature        *any                `json:"signature" doc:"How a sender that is not a known one signs its calls, as a JSON object: header, format, algorithm, encoding, signed, timestampHeader, idHeader, tolerance, keys, issuer, audience, bodyHash, label, components. Empty removes it."`
	Dedupe           *string             `json:"dedupe" doc:"Where the id of a delivery is, so that a repeated one makes no second event: header:<name>, query:<name>, body:<member.of.json>, content (equal calls are one), cloudevent, mailgun, or off. Default: where the provider has it."`
	DedupeWindow     *string             `json:"dedupeWindow" doc:"How long the id of a delivery is remembered, from 1s to 168h. Default 24h."`
	Schema           *any                `json:"schema" doc:"A JSON Schema (2020-12) that payloads must meet, up to 64 KiB; null or empty removes it."`
	VerifyToken      *string             `json:"verifyToken" doc:"What meta and strava repeat in their handshake; empty removes it."`
	Allow            *[]string           `json:"allow" audit:"yes" doc:"Networks that calls may come from, such as 203.0.113.0/24; others are refused with 403. An empty list removes it."`
	ClientCert       *string             `json:"clientCertificate" doc:"A certificate that callers must have, or an authority that signs theirs, in PEM; empty removes it."`
	ClientName       *string             `json:"clientName" audit:"yes" doc:"A DNS name that their certificates must be for, or the CN of their subject; empty removes it."`
	Multipart        *sluice.Multipart   `json:"multipart" enum:"files,all" doc:"What of a multipart body is taken: files (default: the parts named file), or all (every field and every file)."`
	Methods          *[]string           `json:"methods" doc:"Methods that it is called with, of GET, POST, PUT, PATCH and DELETE; others are refused with 405. Default GET and POST; an empty list restores it."`
	ExpectEvery      *string             `json:"expectEvery" audit:"yes" doc:"Raise the alert silence if no call was accepted for so long: from 1m to 720h, or auto, which learns the usual pauses from two weeks of calls on; empty removes it."`
	Redact           *[]string           `json:"redact" audit:"yes" doc:"Members of calls that are never stored, as paths such as payload.card.number, payload.items[*].email, headers.x-customer or query.email: events, pipelines and the quarantine have *** in their place. A payload without members is replaced as a whole. An empty list removes it."`
	Keep             *string             `json:"keep" audit:"yes" doc:"How long its events stay, with their results, dead letters and payloads in traces: from 1m to --event-max-age of the server, even if a pipeline is not done with them. Default: as long as other events; empty restores it."`
	APIURL           *string             `json:"apiUrl" audit:"yes" doc:"Address of the hook itself at the API of the sender, such as https://api.github.com/repos/o/r/hooks/123, for webhook.missed; empty removes it."`
	APISecret        *string             `json:"apiSecret" doc:"The bearer token for that API (PayPal: client-id:client-secret), or secret:<name> of a stored one. It is stored encrypted and never shown; empty removes it."`
	MissedEvery      *string             `json:"missedEvery" audit:"yes" doc:"Ask the sender so often for what was missed, as webhook.missed does: from 1m to 168h; empty removes it."`
	Answer           *string             `json:"answer" doc:"What callers get back: result (default: the result in JSON), value (what the pipelines made, as it is), or empty (nothing, as soon as the event is stored). Empty restores the default, which some providers have of their own."`
	AnswerType       *string             `json:"answerType" doc:"Content type of an answer that is a value. Default text/plain for text and application/json for the rest; empty restores it."`
	AnswerWait       *string             `json:"answerWait" doc:"How long a call waits for its pipelines, from 0s to 30s. Default: --result-wait of the server; empty restores it."`
	Disabled         *bool               `json:"disabled" doc:"Refuse calls for now, and keep them in the quarantine."`
	Description      *string             `json:"description" doc:"For people, up to 1000 characters."`
	DryRun           bool                `json:"dryRun" doc:"Only check: the answer is the webhook as it would be, and nothing is stored."`
	IfMatch          string              `json:"ifMatch" doc:"The etag that webhook.get or webhook.put showed: the edit is refused with 412 changed-meanwhile if the webhook was changed since."`
	IfUpdated        time.Time           `json:"ifUpdated" doc:"The same with the value of updated in place of the etag."`
}

const maxDescription = 1000

func putCommand(hooks *Store, trusts *Trusts, baseURL string) command.Command {
	return command.New("webhook.put", "Create a webhook, or edit the one with that token: what is not given keeps its value.",
		func(ctx context.Context, p putParams) (sluice.WebhookView, error) {
			if p.Token != "" && p.EventKey != nil && !maySeeToken(ctx, *p.EventKey) {
				return sluice.WebhookView{}, sluice.NotPermitted(sluice.MaySeeTokens).About("token")
			}
			warnings, err := p.check(hooks.MaxKeep)
			if err != nil {
				return sluice.WebhookView{}, err
			}
			hook, err := hooks.put(ctx, p, trusts)
			if err != nil {
				return sluice.WebhookView{}, err
			}
			shown := show(ctx, hook, trusts, baseURL)
			if p.DryRun && p.UUID == "" && p.Token == "" { // it has none yet
				shown.UUID, shown.WebhookURL, shown.HookURL, shown.ETag, shown.Tokens = "", "", "", "", nil
			}
			shown.Warnings = append(shown.Warnings, warnings...)
			return shown, nil
		}, command.Missing(Missing))
}

// check refuses parameters that no webhook can have.
func (p *putParams) check(maxKeep time.Duration) (warnings []string, err error) {
	if err := p.checkTarget(); err != nil {
		return nil, err
	}
	if p.Description != nil {
		if err := checkDescription(*p.Description); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(p.checkAnswer(), p.checkAPI()); err != nil {
		return nil, err
	}
	if p.Methods != nil {
		for _, method := range *p.Methods {
			if !slices.Contains(slices.Concat(sluice.DefaultMethods, sluice.FurtherMethods), method) {
				return nil, sluice.InvalidParameter("methods", "The parameter methods must be of GET, POST, PUT, PATCH and DELETE.")
			}
		}
	}
	if p.ExpectEvery != nil {
		if _, err := parseExpected(*p.ExpectEvery); err != nil {
			return nil, err
		}
	}
	if p.Keep != nil {
		if _, err := durationOf("keep", *p.Keep, leastKeep, maxKeep, "1m to "+sluice.ShortDuration(maxKeep)+", which is --event-max-age of the server"); err != nil {
			return nil, err
		}
	}
	if p.Redact != nil {
		if _, err := redactionsOf(*p.Redact); err != nil {
			return nil, err
		}
	}
	if p.EventKey != nil {
		return checkEventKey(*p.EventKey)
	}
	return nil, nil
}

// checkTarget refuses parameters for an edit without a webhook, and the other way around.
func (p *putParams) checkTarget() error {
	switch {
	case p.UUID == "" && p.EventKey == nil:
		return sluice.Errorf(sluice.CodeParameterMissing, "The parameter eventKey is required to create a webhook; to edit one, give its uuid.").About("eventKey")
	case p.UUID == "" && !p.IfUpdated.IsZero():
		return sluice.InvalidParameter("ifUpdated", "The parameter ifUpdated is for an edit: give the uuid as well.")
	case p.UUID == "" && p.IfMatch != "":
		return sluice.InvalidParameter("ifMatch", "The parameter ifMatch is for an edit: give the uuid as well.")
	case p.UUID != "" && p.Token != "":
		return sluice.InvalidParameter("token", "The parameter token is for a new webhook; webhook.token.add gives another one to a webhook that is there.")
	case p.Token != "" && !sluice.IsToken(p.Token):
		return notAToken()
	}
	return nil
}

// leastKeep is the shortest time that a webhook keeps its events for.
const leastKeep = time.Minute

// shown returns a duration that is set, "" for 0.
func shown(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return sluice.ShortDuration(d)
}

const (
	learned       = "auto"
	leastExpected = time.Minute
	mostExpected  = 30 * 24 * time.Hour // figures are kept for so long
)

func parseExpected(text string) (time.Duration, error) {
	if text == learned {
		return sluice.ExpectAuto, nil
	}
	return durationOf("expectEvery", text, leastExpected, mostExpected, "1m to 720h, such as 1h, or auto")
}

// durationOf reads a parameter that is a duration, which a rule bounds; "" is 0.
func durationOf(name, text string, least, most time.Duration, rule string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, sluice.InvalidParameter(name, "The parameter %s must be a duration from %s.", name, rule)
	}
	return d, nil
}

func shownExpected(expected time.Duration) string {
	if expected == sluice.ExpectAuto {
		return learned
	}
	return shown(expected)
}

func isUnprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// apply sets the given parameters, except those of the trust.
func (p *putParams) apply(hook *sluice.Webhook) {
	set(&hook.EventKey, p.EventKey)
	set(&hook.PayloadType, p.PayloadType)
	set(&hook.MaxPayloadLength, p.MaxPayloadLength)
	set(&hook.Multipart, p.Multipart)
	set(&hook.Disabled, p.Disabled)
	if p.Methods != nil {
		hook.Methods = slices.Compact(slices.Sorted(slices.Values(*p.Methods)))
		if len(hook.Methods) == 0 || slices.Equal(hook.Methods, sluice.DefaultMethods) {
			hook.Methods = nil
		}
	}
	set(&hook.Description, p.Description)
	if p.ExpectEvery != nil {
		hook.ExpectEvery, _ = parseExpected(*p.ExpectEvery) // it was checked
	}
	if p.Redact != nil {
		hook.Redact, _ = redactionsOf(*p.Redact) // they were checked
	}
	if p.Keep != nil {
		hook.Keep, _ = time.ParseDuration(*p.Keep) // it was checked; "" is 0
	}
	p.applyAnswer(hook)
}

// set changes a field if a value is given.
func set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}

// checkMatch refuses to edit a webhook that was changed since the caller read it.
func (p *putParams) checkMatch(hook *sluice.Webhook) error {
	var parameter string
	switch {
	case p.IfMatch != "" && !sluice.TagMatches(p.IfMatch, tagOf(hook)):
		parameter = "ifMatch"
	case !p.IfUpdated.IsZero() && !hook.Updated.Equal(p.IfUpdated):
		parameter = "ifUpdated"
	default:
		return nil
	}
	return sluice.Errorf(sluice.CodeChangedMeanwhile, "The webhook was changed since it was read; read it again, and then change it.").About(parameter)
}

// tagOf returns the entity tag of a version of a webhook.
func tagOf(hook *sluice.Webhook) string { return sluice.EntityTag(1, hook.Updated) }

// Bounds on how often a sender is asked what was missed.
const (
	leastMissed = time.Minute
	mostMissed  = 168 * time.Hour
	maxAPIURL   = 2000
)

// checkAPI refuses what can be no address of a sender's API, and no credential.
func (p *putParams) checkAPI() error {
	if p.MissedEvery != nil {
		if _, err := durationOf("missedEvery", *p.MissedEvery, leastMissed, mostMissed, "1m to 168h, such as 1h"); err != nil {
			return err
		}
	}
	if p.APISecret != nil && (len(*p.APISecret) > maxSecret || !utf8.ValidString(*p.APISecret) || strings.ContainsAny(*p.APISecret, "\r\n")) {
		return sluice.InvalidParameter("apiSecret", "The parameter apiSecret must be a line of text of at most 16 KiB.")
	}
	if p.APIURL == nil || *p.APIURL == "" {
		return nil
	}
	if len(*p.APIURL) > maxAPIURL || !sluice.IsServerURL(*p.APIURL) {
		return sluice.InvalidParameter("apiUrl", "The parameter apiUrl must be the address of the hook at the sender's API, such as https://api.github.com/repos/o/r/hooks/123, without a query.")
	}
	return nil
}

// applyAPI sets how the sender is asked. A credential that is stored goes to the server it was
// entered for, and to no other.
func (p *putParams) applyAPI(ctx context.Context, hook *sluice.Webhook) error {
	before := hook.APIURL
	set(&hook.APIURL, p.APIURL)
	set(&hook.APISecret, p.APISecret)
	if p.MissedEvery != nil {
		hook.MissedEvery, _ = time.ParseDuration(*p.MissedEvery) // it was checked; "" is 0
	}
	name, stored := storedName(hook.APISecret)
	switch {
	case p.APISecret != nil && stored && !sluice.UserFrom(ctx).Cover(sluice.MayUseSecrets).Name(name):
		return sluice.NotPermitted(sluice.MayUseSecrets).About("apiSecret")
	case p.APISecret == nil && hook.APISecret != "" && before != "" && hook.APIURL != "" && serverOf(before) != serverOf(hook.APIURL):
		return sluice.InvalidParameter("apiSecret", "Another server would get the stored apiSecret; give it again.")
	case hook.MissedEvery == 0:
		return nil
	case hook.APIURL == "":
		return sluice.InvalidParameter("apiUrl", "With missedEvery the sender is asked what was missed: that needs apiUrl, the address of the hook at its API.")
	case hook.APISecret == "":
		return sluice.InvalidParameter("apiSecret", "With missedEvery the sender is asked what was missed: that needs apiSecret, the credential for its API.")
	case !slices.Contains(sluice.MissedProviders, trustOf(hook).Provider):
		return sluice.InvalidParameter("missedEvery", "These senders can be asked what was missed: %s.", strings.Join(sluice.MissedProviders, ", "))
	}
	return nil
}

// Asked returns the webhooks whose senders are asked by themselves what was missed.
func (s *Store) Asked() []*sluice.Webhook {
	hooks, _ := s.pick(func(h *sluice.Webhook) bool { return h.MissedEvery != 0 }, "", 0)
	return hooks
}

// serverOf returns the scheme and host of an address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// checkAnswer refuses answers that no webhook can give.
func (p *putParams) checkAnswer() error {
	if p.Answer != nil {
		switch sluice.AnswerForm(*p.Answer) {
		case "", sluice.AnswerResult, sluice.AnswerValue, sluice.AnswerEmpty:
		default:
			return sluice.InvalidParameter("answer", "The parameter answer must be result, value or empty.")
		}
	}
	if t := p.AnswerType; t != nil && *t != "" {
		media, _, err := mime.ParseMediaType(*t)
		if err != nil || !strings.Contains(media, "/") || len(*t) > maxAnswerType || strings.ContainsFunc(*t, func(c rune) bool { return c > unicode.MaxASCII || unicode.IsControl(c) }) {
			return sluice.InvalidParameter("answerType", "The parameter answerType must be a content type, such as text/xml; charset=utf-8.")
		}
	}
	if p.AnswerWait != nil {
		_, err := durationOf("answerWait", *p.AnswerWait, 0, sluice.LongestAnswerWait, "0s to 30s, such as 5s")
		return err
	}
	return nil
}

// applyAnswer sets the given parameters about answers.
func (p *putParams) applyAnswer(hook *sluice.Webhook) {
	if p.Answer != nil {
		hook.Answer = sluice.AnswerForm(*p.Answer)
	}
	set(&hook.AnswerType, p.AnswerType)
	if p.AnswerWait != nil {
		hook.AnswerWait = nil
		if wait, err := time.ParseDuration(*p.AnswerWait); err == nil {
			hook.AnswerWait = &wait
		}
	}
}
