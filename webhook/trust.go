package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/sender"
	"sluice/spelling"
)

// TrustOptions are what checking calls needs.
type TrustOptions struct {
	Secret func(ctx context.Context, name string) (string, error) // gives a stored secret
	Keys   sender.Keys                                            // gets the public keys of senders
	Fetch  func(ctx context.Context, address string) error        // fetches the confirmation URL of a handshake
	Log    *slog.Logger                                           // nil discards what it writes

	// ClientCertificates tells where callers show their certificates; NoCertificates if
	// nowhere.
	ClientCertificates CertificateSource
}

// Trusts makes and keeps the trusts of webhooks, which check their calls. Webhooks that
// demand nothing but their token have none.
type Trusts struct {
	TrustOptions

	mu   sync.RWMutex
	kept map[string]*trust // by token
}

// maxTrusts bounds how many trusts are kept.
const maxTrusts = 10_000

// NewTrusts returns trusts that are made when they are needed.
func NewTrusts(o TrustOptions) *Trusts {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Trusts{TrustOptions: o, kept: make(map[string]*trust)}
}

// A trust checks the calls of one webhook. It does not change.
type trust struct {
	sluice.Trust

	version  time.Time        // of the webhook
	secrets  []string         // that calls are signed with; those stored elsewhere as they were then
	verifier *sender.Verifier // nil: calls are not signed
	ids      *sender.Dedupe   // nil: calls have no ids
	where    string           // where calls have their ids, as the parameter dedupe has it
	schema   *schema          // nil: every payload will do
	missing  error            // why one of them is left out; nil: all are there
	origin   origin           // where calls must come from
	answers  sender.Answers   // that the sender demands
}

// of returns the trust of a webhook, nil if it demands nothing but its token.
func (g *Trusts) of(ctx context.Context, hook *sluice.Webhook) (*trust, error) {
	if hook.Trust == nil {
		return nil, nil
	}
	ctx = sluice.Unscoped(ctx) // a webhook may have secrets that its users don't cover
	g.mu.RLock()
	known := g.kept[hook.UUID]
	g.mu.RUnlock()
	if known != nil && known.version.Equal(hook.Updated) && g.isCurrent(ctx, known) {
		return known, nil
	}
	made, err := g.build(ctx, *hook.Trust)
	if err != nil {
		// It was checked when it was stored, so only something outside can be missing.
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

// keep keeps the trust of a token. If there are too many it drops any other one, since
// nobody knows which is needed next. The caller must hold the lock.
func (g *Trusts) keep(token string, made *trust) {
	if _, known := g.kept[token]; !known && len(g.kept) >= maxTrusts {
		for other := range g.kept {
			delete(g.kept, other)
			break
		}
	}
	g.kept[token] = made
}

// isCurrent reports whether a trust was made with the secrets that are stored now.
func (g *Trusts) isCurrent(ctx context.Context, known *trust) bool {
	if !strings.Contains(known.Signing, sluice.StoredSecret) {
		return true
	}
	secrets, _, err := g.resolve(ctx, known.Signing)
	return err == nil && slices.Equal(secrets, known.secrets)
}

// build makes a trust. It leaves out signing secrets that are gone. Errors name the
// parameter at fault.
func (g *Trusts) build(ctx context.Context, t sluice.Trust) (*trust, error) {
	secrets, missing, err := g.resolve(ctx, t.Signing)
	if err != nil {
		return nil, err
	}
	made := &trust{Trust: t, secrets: secrets, where: t.Dedupe, missing: missing}
	switch {
	case t.Provider != "":
		preset, err := findPreset(t.Provider)
		if err != nil {
			return nil, err
		}
		made.where, made.answers = cmp.Or(made.where, preset.Dedupe), preset.Answers
		if made.verifier, err = sender.New(preset, secrets, g.Keys); err != nil {
			return nil, err
		}
	case t.Signature != nil:
		scheme, err := sender.ParseScheme(t.Signature)
		if err != nil {
			return nil, err
		}
		if made.verifier, err = sender.NewScheme(scheme, secrets, g.Keys); err != nil {
			return nil, err
		}
	}
	if made.origin, err = newOrigin(t); err != nil {
		return nil, err
	}
	return made, made.complete()
}

// complete prepares what does not depend on the sender.
func (g *trust) complete() (err error) {
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
	var names []string
	for _, p := range sender.Presets() {
		names = append(names, p.Name)
	}
	hint := "provider.get lists those there are."
	if near := spelling.Nearest(name, names); near != "" {
		hint = "Did you mean " + near + "?"
	}
	return preset, sluice.InvalidParameter("provider", "There is no provider of that name. %s", hint)
}

// resolve returns signing secrets with names replaced by the stored secrets, which may have
// commas in them. One that is gone is left out, so that calls with another one are taken;
// missing says so. If none is left it is an error: a webhook that had secrets must not take
// unsigned calls.
func (g *Trusts) resolve(ctx context.Context, text string) (secrets []string, missing, err error) {
	parts, err := sender.SplitSecrets(text)
	for _, part := range parts {
		name, ok := storedName(part)
		if !ok {
			secrets = append(secrets, part)
			continue
		}
		secret, err := g.Secret(ctx, name)
		switch {
		case err == nil:
			secrets = append(secrets, secret)
		case sluice.AsError(err).Kind == sluice.NotFound:
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

// storedName returns the name of a signing secret that is stored elsewhere.
func storedName(signing string) (name string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(signing), sluice.StoredSecret)
}

// trustOf returns what a webhook demands of its calls.
func trustOf(hook *sluice.Webhook) sluice.Trust {
	if hook == nil || hook.Trust == nil {
		return sluice.Trust{}
	}
	return *hook.Trust
}

// stored returns a trust as it is stored: nil if it demands nothing.
func stored(t sluice.Trust) *sluice.Trust {
	if t.Provider == "" && t.Signature == nil && t.Signing == "" && t.VerifyToken == "" && t.Dedupe == "" && t.DedupeWindow == 0 && t.Schema == nil &&
		t.Allow == nil && t.ClientCertificate == "" {
		return nil
	}
	return &t
}

type signParams struct {
	EventKey    string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
	ContentType string `json:"contentType" doc:"Media type of the payload. Default application/json."`
	Sample      string `json:"sample" doc:"Name of a sample of the provider, such as push, that is sent with the headers of the provider and a new delivery id; a payload that is given takes the place of that of the sample."`
	Payload     string `json:"payload" body:"only" doc:"The payload, as its sender would send it."`
}

func signCommand(hooks *Store, trusts *Trusts, baseURL string) command.Command {
	return command.New("webhook.sign", "Make a call as the webhook's sender would, with its signature, to try the webhook with it. Needs the permission webhook.token, too, and secret.use where calls carry the secret itself.",
		func(ctx context.Context, p signParams) (sluice.SignedCall, error) {
			if !maySeeToken(ctx, p.EventKey) {
				return sluice.SignedCall{}, sluice.NotPermitted(sluice.MaySeeTokens)
			}
			hook, err := hooks.WithKey(p.EventKey)
			if err != nil {
				return sluice.SignedCall{}, err
			}
			g, err := trusts.of(ctx, &hook)
			if err != nil {
				return sluice.SignedCall{}, err
			}
			if g != nil && g.verifier != nil && g.verifier.SendsSecret() && !g.mayUse(sluice.UserFrom(ctx), hook.EventKey) {
				return sluice.SignedCall{}, sluice.NotPermitted(sluice.MayUseSecrets)
			}
			return g.sign(receiveURL(baseURL, hook.OpenToken(time.Now())), p, time.Now())
		}, command.Missing(Missing))
}

// sign makes a call with a signature, where calls have one.
func (g *trust) sign(url string, p signParams, now time.Time) (sluice.SignedCall, error) {
	call := &sender.Call{Method: http.MethodPost, URL: url, Header: http.Header{"Content-Type": {cmp.Or(p.ContentType, "application/json")}}, Body: []byte(p.Payload)}
	if p.Sample != "" {
		sample, err := g.sample(p)
		if err != nil {
			return sluice.SignedCall{}, err
		}
		if p.ContentType != "" {
			sample.Header.Set("Content-Type", p.ContentType)
		}
		call.Header, call.Body = sample.Header, sample.Body
		if g.ids != nil {
			g.ids.Renew(call)
		}
		if p.Payload != "" {
			call.Body = []byte(p.Payload)
		}
	}
	if g != nil && g.verifier != nil {
		if err := g.verifier.Sign(call, now); err != nil {
			return sluice.SignedCall{}, err
		}
	}
	out := sluice.SignedCall{Method: call.Method, URL: call.URL, Headers: make(map[string]string, len(call.Header)), Body: string(call.Body)}
	for name, values := range call.Header {
		out.Headers[name] = values[0]
	}
	return out, nil
}

// mayUse reports whether a user may use the secrets that calls are signed with: those that
// are stored by name, and the webhook's own.
func (g *trust) mayUse(user sluice.User, eventKey string) bool {
	cover := user.Cover(sluice.MayUseSecrets)
	for part := range strings.SplitSeq(g.Signing, ",") {
		if name, stored := storedName(part); stored && !cover.Name(name) || !stored && !cover.Event(eventKey) {
			return false
		}
	}
	return true
}

// sample finds the sample that is asked for among those of the webhook's provider.
func (g *trust) sample(p signParams) (sender.Sample, error) {
	if g == nil || g.Provider == "" {
		return sender.Sample{}, sluice.InvalidParameter("sample", "Samples belong to providers, and this webhook has none: give a payload.")
	}
	preset, err := findPreset(g.Provider)
	if err != nil {
		return sender.Sample{}, err
	}
	var names []string
	for _, s := range preset.Samples() {
		if s.Name == p.Sample {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return sender.Sample{}, sluice.InvalidParameter("sample", "%s has no sample of that name; there are: %s.", preset.Title, strings.Join(names, ", "))
}
