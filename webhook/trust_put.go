package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/sender"
	"sluice/value"
)

const (
	maxVerifyToken = 1000
	maxSecret      = 16 << 10
	shortestWindow = time.Second
	longestWindow  = 168 * time.Hour
)

func (p *putParams) givesTrust() bool {
	return p.Provider != nil || p.SigningSecret != nil || p.Signature != nil || p.Dedupe != nil || p.DedupeWindow != nil || p.Schema != nil || p.VerifyToken != nil ||
		p.Allow != nil || p.ClientCert != nil || p.ClientName != nil
}

// revise returns the trust of a webhook as a put changes it, after making sure that
// calls can be checked by it. The hook is nil for a new webhook.
func (g *Trusts) revise(ctx context.Context, hook *sluice.Webhook, p *putParams) (*sluice.Trust, error) {
	t := trustOf(hook)
	before := t
	if err := p.demand(&t); err != nil {
		return nil, err
	}
	if p.SigningSecret == nil && t.Signing != "" && sender.SendsSecret(t.Provider, t.Signature) && !sender.SendsSecret(before.Provider, before.Signature) {
		return nil, sluice.InvalidParameter("signingSecret", "Calls of this sender carry the secret itself, which webhook.sign would show; give the signing secret again.")
	}
	user := sluice.UserFrom(ctx)
	ctx = sluice.Unscoped(ctx) // what others have chosen stays
	if p.SigningSecret != nil && strings.Contains(t.Signing, sluice.StoredSecret) {
		if !user.May(sluice.MayUseSecrets) {
			return nil, sluice.NotPermitted(sluice.MayUseSecrets).About("signingSecret")
		}
		ctx = sluice.UsingSecrets(ctx, user)
	}
	if err := p.fit(&t); err != nil {
		return nil, err
	}
	if t.ClientCertificate != "" && g.ClientCertificates == NoCertificates {
		return nil, sluice.InvalidParameter("clientCertificate", "This server sees no client certificates: it needs HTTPS of its own (--tls-cert), or a proxy that passes them on (--client-certificate-header).")
	}
	made, err := g.build(ctx, t)
	if err == nil {
		err = made.missing // where calls come it is left out; here it is a mistake
	}
	if err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		return nil, sluice.AsError(err).About("signingSecret").WithStatus(400) // of the secret, not of the webhook
	}
	return stored(t), err
}

func (p *putParams) demand(t *sluice.Trust) (err error) {
	set(&t.Provider, p.Provider)
	set(&t.Signing, p.SigningSecret)
	set(&t.Dedupe, p.Dedupe)
	set(&t.VerifyToken, p.VerifyToken)
	set(&t.ClientCertificate, p.ClientCert)
	set(&t.ClientName, p.ClientName)
	if p.Allow != nil {
		t.Allow = slices.Clip(*p.Allow)
	}
	if len(t.Allow) == 0 {
		t.Allow = nil
	}
	if len(t.Signing) > maxSecret || !utf8.ValidString(t.Signing) {
		return sluice.InvalidParameter("signingSecret", "The parameter signingSecret must be text of at most 16 KiB.")
	}
	if len(t.VerifyToken) > maxVerifyToken || strings.ContainsFunc(t.VerifyToken, unicode.IsControl) || !utf8.ValidString(t.VerifyToken) {
		return sluice.InvalidParameter("verifyToken", "The parameter verifyToken must be text of at most 1000 characters.")
	}
	if p.DedupeWindow != nil {
		if t.DedupeWindow, err = durationOf("dedupeWindow", *p.DedupeWindow, shortestWindow, longestWindow, "1s to 168h, such as 24h"); err != nil {
			return err
		}
	}
	if p.Signature != nil {
		if t.Signature, err = document("signature", *p.Signature); err != nil {
			return err
		}
	}
	if p.Schema != nil {
		t.Schema, err = document("schema", *p.Schema)
	}
	return err
}

// fit refuses contradictions, and drops what belonged to a sender that was removed.
func (p *putParams) fit(t *sluice.Trust) error {
	switch {
	case t.Provider != "" && t.Signature != nil && p.Signature != nil:
		return sluice.InvalidParameter("signature", "A signature is an own scheme in place of a provider; remove the provider with an empty one.")
	case t.Provider != "" && t.Signature != nil:
		return sluice.InvalidParameter("provider", "The webhook has a signature of its own; remove it with an empty one to set a provider.")
	}
	preset := sender.Preset{}
	if t.Provider != "" {
		var err error
		if preset, err = findPreset(t.Provider); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		removed        bool
		value, given   *string
		parameter, why string
	}{
		{t.Provider == "" && t.Signature == nil, &t.Signing, p.SigningSecret, "signingSecret", "A signing secret needs a provider or a signature that says how calls are signed."},
		{t.ClientCertificate == "", &t.ClientName, p.ClientName, "clientName", "A clientName needs a clientCertificate, which says whose certificates count."},
		{!preset.Handshake.VerifyToken, &t.VerifyToken, p.VerifyToken, "verifyToken", "Only the handshakes of meta and strava repeat a verify token; set one of them as the provider, or leave it out."},
	} {
		if of.removed && *of.value != "" && of.given != nil {
			return sluice.InvalidParameter(of.parameter, "%s", of.why)
		}
		if of.removed {
			*of.value = ""
		}
	}
	return nil
}

// document returns the JSON of a parameter that is a JSON value or its text; nil means
// that the stored one is removed.
func document(parameter string, given any) (json.RawMessage, error) {
	switch v := given.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		if !json.Valid([]byte(v)) {
			return nil, sluice.InvalidParameter(parameter, "The parameter %s must be JSON.", parameter)
		}
		return json.RawMessage(v), nil
	}
	text, err := value.Marshal(given)
	if err != nil {
		return nil, sluice.InvalidParameter(parameter, "The parameter %s must be JSON.", parameter)
	}
	return text, nil
}
