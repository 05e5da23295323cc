package webhook

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/sender"
)

// demandParams are the parameters of webhook.put that say what is demanded of
// calls; nil means not given.
type demandParams struct {
	provider      *string
	signingSecret *string
	signature     *any
	dedupe        *string
	dedupeWindow  *string
	schema        *any
	verifyToken   *string
}

func (p *demandParams) given() bool { return *p != (demandParams{}) }

const (
	maxVerifyToken = 1000
	maxSecret      = 16 << 10
	shortestWindow = time.Second
	longestWindow  = 168 * time.Hour
)

// revise returns the settings that come of a put, checked: they make a guard.
func (g *Guards) revise(ctx context.Context, hook *sluice.Webhook, p *demandParams) (settings, error) {
	s := settingsOf(hook)
	before := s
	if err := p.apply(&s); err != nil {
		return s, err
	}
	if preset, _ := sender.Find(s.Provider); preset.Unsigned && p.signingSecret == nil && s.Signing != "" && s.Provider != before.Provider {
		return s, sluice.InvalidParameter("signingSecret", "Calls of this sender carry the secret itself, which webhook.sign would show; give the signing secret again.")
	}
	if p.signingSecret != nil && strings.Contains(s.Signing, sluice.StoredSecret) && !sluice.UserFrom(ctx).May(sluice.MayUseSecrets) {
		return s, sluice.NotPermitted(sluice.MayUseSecrets).About("signingSecret")
	}
	if err := p.fit(&s); err != nil {
		return s, err
	}
	made, err := g.build(ctx, s)
	if err == nil {
		err = made.missing // where calls come it is left out; here it is a mistake
	}
	if err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		return s, sluice.AsError(err).About("signingSecret").WithStatus(400) // of the secret, not of the webhook
	}
	return s, err
}

func (p *demandParams) apply(s *settings) (err error) {
	for _, text := range []struct{ given, to *string }{
		{p.provider, &s.Provider}, {p.signingSecret, &s.Signing}, {p.dedupe, &s.Dedupe}, {p.verifyToken, &s.VerifyToken},
	} {
		if text.given != nil {
			*text.to = *text.given
		}
	}
	if len(s.Signing) > maxSecret || !utf8.ValidString(s.Signing) {
		return sluice.InvalidParameter("signingSecret", "The parameter signingSecret must be text of at most 16 KiB.")
	}
	if len(s.VerifyToken) > maxVerifyToken || strings.ContainsFunc(s.VerifyToken, unicode.IsControl) || !utf8.ValidString(s.VerifyToken) {
		return sluice.InvalidParameter("verifyToken", "The parameter verifyToken must be text of at most 1000 characters.")
	}
	if p.dedupeWindow != nil {
		if s.DedupeWindow, err = parseWindow(*p.dedupeWindow); err != nil {
			return err
		}
	}
	if p.signature != nil {
		if s.Signature, err = document("signature", *p.signature); err != nil {
			return err
		}
	}
	if p.schema != nil {
		s.Schema, err = document("schema", *p.schema)
	}
	return err
}

func parseWindow(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	window, err := time.ParseDuration(text)
	if err != nil || window < shortestWindow || window > longestWindow {
		return 0, sluice.InvalidParameter("dedupeWindow", "The parameter dedupeWindow must be a duration from 1s to 168h, such as 24h.")
	}
	return window, nil
}

// fit refuses settings that don't go together, and drops what belonged to a
// sender that was removed.
func (p *demandParams) fit(s *settings) error {
	switch {
	case s.Provider != "" && s.Signature != nil && p.signature != nil:
		return sluice.InvalidParameter("signature", "A signature is an own scheme in place of a provider; remove the provider with an empty one.")
	case s.Provider != "" && s.Signature != nil:
		return sluice.InvalidParameter("provider", "The webhook has a signature of its own; remove it with an empty one to set a provider.")
	}
	preset := sender.Preset{}
	if s.Provider != "" {
		var err error
		if preset, err = findPreset(s.Provider); err != nil {
			return err
		}
	}
	if s.Provider == "" && s.Signature == nil && s.Signing != "" {
		if p.signingSecret != nil {
			return sluice.InvalidParameter("signingSecret", "A signing secret needs a provider or a signature that says how calls are signed.")
		}
		s.Signing = ""
	}
	if !preset.VerifyToken && s.VerifyToken != "" {
		if p.verifyToken != nil {
			return sluice.InvalidParameter("verifyToken", "Only the handshakes of meta and strava repeat a verify token; set one of them as the provider, or leave it out.")
		}
		s.VerifyToken = ""
	}
	return nil
}
