// Package trust checks calls by the demands of their webhook beyond its token: where they come
// from, how they are signed, the schema of their payloads, and where their ids are. It also
// signs calls, to try webhooks with.
//
// Package webhook stores what is demanded, package sender knows the senders, and package
// receive says in which order calls are checked.
package trust

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"sluice"
	"sluice/limit"
	"sluice/sender"
)

// Options are what checking calls needs.
type Options struct {
	Secret sluice.Lookup[string]                           // gives a stored secret
	Keys   sender.Keys                                     // gets the public keys of senders
	Fetch  func(ctx context.Context, address string) error // fetches the confirmation URL of a handshake
	Log    *slog.Logger                                    // nil discards what it writes

	Computing *limit.Computing // what compares payloads with schemas; nil: no bound

	// ClientCertificates tells where callers show their certificates; NoCertificates if
	// nowhere.
	ClientCertificates CertificateSource
}

// Trusts makes and keeps the trusts of webhooks, which check their calls.
type Trusts struct {
	Options

	mu   sync.RWMutex
	kept map[string]*Trust // by token
}

// maxTrusts bounds how many trusts are kept.
const maxTrusts = 10_000

// New returns trusts that are made when they are needed.
func New(o Options) *Trusts {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Trusts{Options: o, kept: make(map[string]*Trust)}
}

// nothing is the trust of webhooks that demand nothing but their token.
var nothing = &Trust{Verifier: new(sender.Verifier)}

// Of returns the trust of a webhook.
func (g *Trusts) Of(ctx context.Context, hook *sluice.Webhook) (*Trust, error) {
	if hook.Trust == nil {
		return nothing, nil
	}
	ctx = sluice.Unscoped(ctx) // a webhook may have secrets that its users don't cover
	g.mu.RLock()
	known := g.kept[hook.UUID]
	g.mu.RUnlock()
	if known != nil && known.version.Equal(hook.Updated) && g.isCurrent(ctx, known) {
		return known, nil
	}
	made, err := g.Build(ctx, *hook.Trust)
	if err != nil {
		// It was checked when it was stored, so only something outside can be missing.
		return nil, sluice.CodeWebhookUnavailable.Errorf(
			"Calls of this webhook can't be checked now; its operator knows more.").Because(err)
	}
	made.version, made.eventKey, made.computing = hook.Updated, hook.EventKey, g.Computing
	if made.Missing != nil {
		g.Log.WarnContext(ctx, "A signing secret of a webhook is gone: its calls are checked without it.",
			"eventKey", hook.EventKey, "error", made.Missing)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep(hook.UUID, made)
	return made, nil
}

// keep keeps the trust of a token. If there are too many it drops any other one, since
// nobody knows which is needed next. The caller must hold the lock.
func (g *Trusts) keep(token string, made *Trust) {
	if _, known := g.kept[token]; !known && len(g.kept) >= maxTrusts {
		for other := range g.kept {
			delete(g.kept, other)
			break
		}
	}
	g.kept[token] = made
}

// isCurrent reports whether a trust was made with the secrets that are stored now.
func (g *Trusts) isCurrent(ctx context.Context, known *Trust) bool {
	if !strings.Contains(known.Signing, sluice.StoredSecret) {
		return true
	}
	secrets, _, err := g.resolve(ctx, known.Signing)
	return err == nil && slices.Equal(secrets, known.secrets)
}
