package webhook

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/sender"
	"sluice/spelling"
)

// GuardOptions are what guards need to know.
type GuardOptions struct {
	Secret func(ctx context.Context, name string) (string, error) // gives a stored secret
	Keys   sender.Keys                                            // gets the public keys of senders
	Fetch  func(ctx context.Context, address string) error        // gets an address that a handshake demands to be got
	Log    *slog.Logger                                           // nil discards what it writes
}

// Guards makes and keeps what checks the calls of webhooks: one for each version
// of a webhook that demands more than its token.
type Guards struct {
	GuardOptions

	mu   sync.RWMutex
	kept map[string]*guard // by token
}

// maxGuards bounds the guards that are kept.
const maxGuards = 10_000

// NewGuards returns guards that are made when they are needed.
func NewGuards(o GuardOptions) *Guards {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Guards{GuardOptions: o, kept: make(map[string]*guard)}
}

// A guard checks the calls of one webhook. It does not change.
type guard struct {
	settings

	version  time.Time        // of the webhook
	resolved string           // the signing secrets, where they are stored elsewhere
	verifier *sender.Verifier // nil: calls are not signed
	ids      *sender.Dedupe   // nil: calls have no ids
	where    string           // where calls have their ids, as the parameter dedupe has it
	schema   *schema          // nil: every payload will do
	count    int              // of signing secrets
	missing  error            // why one of them is left out; nil: all are there
}

// of returns the guard of a webhook, nil if it demands nothing but its token.
func (g *Guards) of(ctx context.Context, hook *sluice.Webhook) (*guard, error) {
	if hook.Trust == nil {
		return nil, nil
	}
	g.mu.RLock()
	known := g.kept[hook.UUID]
	g.mu.RUnlock()
	if known != nil && known.version.Equal(hook.Updated) && g.isCurrent(ctx, known) {
		return known, nil
	}
	made, err := g.build(ctx, settingsOf(hook))
	if err != nil {
		// It could be made when it was stored: what it needs is not there now.
		return nil, sluice.Errorf(sluice.CodeWebhookUnavailable, "Calls of this webhook can't be checked now; its operator knows more.").Because(err)
	}
	made.version = hook.Updated
	if made.missing != nil {
		g.Log.WarnContext(ctx, "A signing secret of a webhook is gone: its calls are checked without it.", "eventKey", hook.EventKey, "error", made.missing)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep(hook.UUID, made)
	return made, nil
}

// keep keeps the guard of a token in place of any other one, if there are too many:
// which of them will be needed next is not known. The caller must have the lock.
func (g *Guards) keep(token string, made *guard) {
	if _, known := g.kept[token]; !known && len(g.kept) >= maxGuards {
		for other := range g.kept {
			delete(g.kept, other)
			break
		}
	}
	g.kept[token] = made
}

// isCurrent reports whether the secrets that a guard was made with still are the
// ones that are stored.
func (g *Guards) isCurrent(ctx context.Context, known *guard) bool {
	if known.resolved == "" {
		return true
	}
	resolved, _, err := g.resolve(ctx, known.Signing)
	return err == nil && resolved == known.resolved
}

// build makes the guard of some settings, without signing secrets that are gone.
// Errors name the parameter at fault.
func (g *Guards) build(ctx context.Context, s settings) (*guard, error) {
	resolved, missing, err := g.resolve(ctx, s.Signing)
	if err != nil {
		return nil, err
	}
	made := &guard{settings: s, where: s.Dedupe, missing: missing}
	if resolved != s.Signing {
		made.resolved = resolved
	}
	signing, err := sender.SplitSecrets(resolved)
	if err != nil {
		return nil, err
	}
	made.count = len(signing)
	switch {
	case s.Provider != "":
		preset, err := findPreset(s.Provider)
		if err != nil {
			return nil, err
		}
		if made.where == "" {
			made.where = preset.Dedupe
		}
		if made.verifier, err = sender.New(preset, signing, g.Keys); err != nil {
			return nil, err
		}
	case s.Signature != nil:
		scheme, err := sender.ParseScheme(s.Signature)
		if err != nil {
			return nil, err
		}
		if made.verifier, err = sender.NewScheme(scheme, signing); err != nil {
			return nil, err
		}
	}
	return made, made.complete()
}

// complete makes what does not depend on the sender.
func (g *guard) complete() (err error) {
	if g.where != "" && g.where != "off" {
		ids, err := sender.ParseDedupe(g.where)
		if err != nil {
			return err
		}
		g.ids = &ids
	}
	if g.Schema != nil {
		g.schema, err = newSchema(g.Schema)
	}
	return err
}

func findPreset(name string) (sender.Preset, error) {
	preset, ok := sender.Find(name)
	if ok {
		return preset, nil
	}
	hint := "provider.get lists those there are."
	var names []string
	for _, p := range sender.Presets() {
		names = append(names, p.Name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		hint = "Did you mean " + near + "?"
	}
	return preset, sluice.InvalidParameter("provider", "There is no provider of that name. %s", hint)
}

// resolve returns signing secrets with those that are stored elsewhere in place of
// their names. One that is gone is left out, so that a call with another one is
// taken, and missing says so. Without any it is an error: a webhook that had secrets
// must not take calls that are not signed.
func (g *Guards) resolve(ctx context.Context, text string) (resolved string, missing, err error) {
	if !strings.Contains(text, sluice.StoredSecret) {
		return text, nil, nil
	}
	var left []string
	for part := range strings.SplitSeq(text, ",") {
		name, ok := storedName(part)
		if !ok {
			left = append(left, part)
			continue
		}
		secret, err := g.Secret(ctx, name)
		switch {
		case err == nil:
			left = append(left, secret)
		case sluice.AsError(err).Kind == sluice.NotFound:
			if missing == nil { // the first will do
				missing = sluice.AsError(err).About("signingSecret")
			}
		default: // it may be there
			return "", nil, sluice.AsError(err).About("signingSecret")
		}
	}
	if len(left) == 0 {
		return "", nil, missing
	}
	return strings.Join(left, ","), missing, nil
}

// storedName returns the name of a signing secret that is stored elsewhere.
func storedName(signing string) (name string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(signing), sluice.StoredSecret)
}
