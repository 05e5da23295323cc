package trust

import (
	"context"
	"strings"

	"sluice"
	"sluice/sender"
)

// resolve returns signing secrets with names replaced by the stored secrets, which may have
// commas in them. One that is gone is left out, so that calls with another one are taken;
// missing says so. If none is left it is an error: a webhook that had secrets must not take
// unsigned calls.
func (g *Trusts) resolve(ctx context.Context, text string) (secrets []string, missing, err error) {
	parts, err := sender.SplitSecrets(text)
	for _, part := range parts {
		name, ok := StoredName(part)
		if !ok {
			secrets = append(secrets, part)
			continue
		}
		secret, err := g.Secret(ctx, name)
		switch {
		case err == nil:
			secrets = append(secrets, secret)
		case sluice.NotFound.Is(err):
			if missing == nil { // the first will do
				missing = sluice.AsError(err).About("signingSecret")
			}
		default: // it may be there
			return nil, nil, sluice.AsError(err).About("signingSecret")
		}
	}
	if len(secrets) == 0 && err == nil {
		return nil, nil, missing
	}
	return secrets, missing, err
}

// StoredName returns the name of a signing secret that is stored elsewhere.
func StoredName(signing string) (name string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(signing), sluice.StoredSecret)
}

// MayUse reports whether a user may use the secrets that calls are signed with: those that
// are stored by name, and the webhook's own.
func (g *Trust) MayUse(user sluice.User, eventKey string) bool {
	cover := user.Cover(sluice.MayUseSecrets)
	for part := range strings.SplitSeq(g.Signing, ",") {
		if name, stored := StoredName(part); stored && !cover.Name(name) || !stored && !cover.Event(eventKey) {
			return false
		}
	}
	return true
}

// maxOthers bounds how many other webhooks' secrets a diagnosis tries.
const maxOthers = 20

// Others returns the signing secrets of other webhooks with the same provider: people
// mix them up.
func (g *Trusts) Others(like *Trust, token string) map[string]string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	secrets := make(map[string]string)
	for other, trust := range g.kept {
		if len(secrets) == maxOthers {
			break
		}
		if other != token && trust.Provider == like.Provider && len(trust.secrets) == 1 {
			secrets[sluice.OtherWebhook+sluice.Last6(other)] = trust.secrets[0]
		}
	}
	return secrets
}
