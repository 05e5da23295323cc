package webhook

import (
	"context"
	"reflect"
	"strings"

	"sluice"
	"sluice/sender"
	"sluice/webhook/trust"
)

// revise returns the trust of a webhook as a put changes it, after making sure that
// calls can be checked by it. The hook is nil for a new webhook.
func (s *Store) revise(ctx context.Context, hook *sluice.Webhook, changes []change) (*sluice.Trust, error) {
	t := trust.DemandsOf(hook)
	before := t
	given := make(map[string]bool)
	for _, c := range changes {
		if c.ofTrust {
			c.apply(&t)
			given[c.Name] = true
		}
	}
	was, _ := trust.PresetOf(before)
	is, _ := trust.PresetOf(t) // a wrong one is refused elsewhere
	if !given["signingSecret"] && t.Signing != "" && is.Unsigned && !was.Unsigned {
		return nil, sluice.InvalidParameter("signingSecret", "Calls of this sender carry the secret itself, which "+
			"webhook.sign would show; give the signing secret again.")
	}
	user := sluice.UserFrom(ctx)
	ctx = sluice.Unscoped(ctx) // what others have chosen stays
	if given["signingSecret"] && strings.Contains(t.Signing, sluice.StoredSecret) {
		if !user.May(sluice.MayUseSecrets) {
			return nil, sluice.NotPermitted(sluice.MayUseSecrets).About("signingSecret")
		}
		ctx = sluice.UsingSecrets(ctx, user)
	}
	if err := fit(&t, given); err != nil {
		return nil, err
	}
	if t.ClientCertificate != "" && s.Trusts.ClientCertificates == trust.NoCertificates {
		return nil, sluice.InvalidParameter("clientCertificate", "This server sees no client certificates: it needs "+
			"HTTPS of its own (--tls-cert), or a proxy that passes them on (--client-certificate-header).")
	}
	return stored(t), s.try(ctx, t, given["signingSecret"] || given["signature"])
}

// try makes sure that calls can be checked by a trust. The kind of a secret that was entered, or
// that is used in another way, must be clear.
func (s *Store) try(ctx context.Context, t sluice.Trust, entered bool) error {
	made, err := s.Trusts.Build(ctx, t)
	if err == nil {
		err = made.Missing // where calls come it is left out; here it is a mistake
	}
	if err == nil && entered {
		err = made.CheckKind()
	}
	if sluice.NotFound.Is(err) {
		return sluice.AsError(err).About("signingSecret").WithStatus(400) // of the secret, not of the webhook
	}
	return err
}

// fit refuses contradictions, and drops what belonged to a sender that was removed.
func fit(t *sluice.Trust, given map[string]bool) error {
	switch {
	case t.Provider != "" && t.Signature != nil && given["signature"]:
		return sluice.InvalidParameter("signature",
			"A signature is an own scheme in place of a provider; remove the provider with an empty one.")
	case t.Provider != "" && t.Signature != nil:
		return sluice.InvalidParameter("provider",
			"The webhook has a signature of its own; remove it with an empty one to set a provider.")
	}
	preset := sender.Preset{}
	if t.Provider != "" {
		var err error
		if preset, err = trust.FindPreset(t.Provider); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		removed        bool
		value          *string
		parameter, why string
	}{
		{t.Provider == "" && t.Signature == nil, &t.Signing, "signingSecret",
			"A signing secret needs a provider or a signature that says how calls are signed."},
		{t.ClientCertificate == "", &t.ClientName, "clientName",
			"A clientName needs a clientCertificate, which says whose certificates count."},
		{!preset.Handshake.VerifyToken, &t.VerifyToken, "verifyToken", "Only the handshakes of meta and strava " +
			"repeat a verify token; set one of them as the provider, or leave it out."},
	} {
		if of.removed && *of.value != "" && given[of.parameter] {
			return sluice.InvalidParameter(of.parameter, "%s", of.why)
		}
		if of.removed {
			*of.value = ""
		}
	}
	return nil
}

// stored returns a trust as it is stored: nil if it demands nothing.
func stored(t sluice.Trust) *sluice.Trust {
	if reflect.ValueOf(t).IsZero() {
		return nil
	}
	return &t
}

// Learn stores a signing secret that came with a handshake. Conflict if the webhook
// has another one already.
func (s *Store) Learn(ctx context.Context, token, secret string) error {
	_, err := sluice.Edit(ctx, s.records, token, noWebhook("uuid"), func(hook *sluice.Webhook) error {
		known := trust.DemandsOf(hook)
		if known.Signing != "" && known.Signing != secret {
			return sluice.CodeSigningSecretKnown.Errorf("The webhook has a signing secret already.")
		}
		known.Signing = secret
		hook.Updated = later(now(), hook)
		hook.Trust = stored(known)
		return nil
	})
	return err
}
