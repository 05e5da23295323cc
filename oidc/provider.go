package oidc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	goidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"sluice"
	"sluice/limit"
	"sluice/outward"
)

const (
	retryAfter = 2 * time.Second // how long a provider that failed is left alone
	hintEvery  = time.Minute     // how often the log repeats what the settings lack
)

// ProviderOptions say which OpenID provider to trust, and how to read its tokens.
type ProviderOptions struct {
	Issuer        string       // its identifier, where discovery starts
	ClientID      string       // of this service at the provider
	ClientSecret  string       // empty: a public client
	CLIClient     string       // of the command line at the provider: its access tokens are for us, too; empty: none
	Audience      string       // that access tokens must be for; empty: the client id
	RolesClaim    string       // where a token has the roles, such as groups or realm_access.roles
	UsernameClaim string       // empty: preferred_username; for a token without it a verified email, otherwise sub
	HTTP          *http.Client // nil: one with a timeout
	Log           *slog.Logger // nil: none
}

// A Provider is an external OpenID provider, such as Keycloak or Dex, which says whom
// tokens and passwords stand for. It is asked when it is first needed, so that one that is
// down doesn't keep the server from starting.
type Provider struct {
	ProviderOptions

	now       func() time.Time
	key       []byte // of the fingerprints
	verified  *limit.Cache[fingerprint, foreign]
	exchanged *limit.Cache[fingerprint, exchanged]
	refused   *limit.Cache[fingerprint, *sluice.Error]
	exchanges singleflight.Group
	busy      chan struct{} // bounds the exchanges at the same time

	discovery singleflight.Group
	mu        sync.RWMutex
	found     *remote
	failure   error // of the last discovery
	failed    time.Time

	audienceHint, rolesHint rate.Sometimes // what the log repeats now and then
}

// NewProvider returns a provider. Nothing is sent to it yet.
func NewProvider(o ProviderOptions) *Provider {
	o.Audience, o.UsernameClaim = cmp.Or(o.Audience, o.ClientID), cmp.Or(o.UsernameClaim, usernameClaim)
	o.HTTP, o.Log = cmp.Or(o.HTTP, &http.Client{Timeout: outward.ShareTimeout}), cmp.Or(o.Log,
		slog.New(slog.DiscardHandler))
	return &Provider{
		ProviderOptions: o,
		now:             time.Now,
		key:             sluice.RandomBytes(32),
		verified:        limit.NewCache[fingerprint, foreign](maxRemembered),
		exchanged:       limit.NewCache[fingerprint, exchanged](maxRemembered),
		refused:         limit.NewCache[fingerprint, *sluice.Error](maxRemembered),
		busy:            make(chan struct{}, maxExchanges),
		audienceHint:    rate.Sometimes{Interval: hintEvery},
		rolesHint:       rate.Sometimes{Interval: hintEvery},
	}
}

// A remote is what discovery found out.
type remote struct {
	keys     *keySet
	oauth    oauth2.Config
	verifier *goidc.IDTokenVerifier // of signature and issuer
}

// remote returns what discovery found out, now or before.
func (p *Provider) remote(ctx context.Context) (*remote, error) {
	p.mu.RLock()
	found, failure, failed := p.found, p.failure, p.failed
	p.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	if failure != nil && p.now().Before(failed.Add(retryAfter)) {
		return nil, failure
	}
	return share(ctx, &p.discovery, "", func(ctx context.Context) (*remote, error) {
		found, err := p.discover(goidc.ClientContext(ctx, outward.Bounded(p.HTTP, maxDocument)))
		if err != nil {
			err = unreachable(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found, p.failure, p.failed = found, err, p.now()
		return found, err
	})
}

// maxDocument bounds the document that discovery reads, in bytes.
const maxDocument = 1 << 20

func (p *Provider) discover(ctx context.Context) (*remote, error) {
	provider, err := goidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		return nil, err
	}
	var document struct {
		Keys    string   `json:"jwks_uri"`
		Scopes  []string `json:"scopes_supported"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, err
	}
	r := &remote{
		keys: newKeySet(document.Keys, p.HTTP, p.now),
		oauth: oauth2.Config{
			ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: provider.Endpoint(),
			Scopes: scopesOf(document.Scopes),
		},
	}
	r.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.ClientSecret == "" || document.Methods != nil && !slices.Contains(document.Methods, "client_secret_basic") {
		r.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	r.verifier = goidc.NewVerifier(p.Issuer, r.keys, &goidc.Config{
		SkipClientIDCheck:    true, // see checkAudience, which logs the cause
		SupportedSigningAlgs: algorithmNames(),
		SkipExpiryCheck:      true, // see checkTimes, which has another leeway
	})
	return r, nil
}

// scopesOf returns the scopes to ask for: those with names and roles that the provider
// supports. Some providers refuse requests for others.
func scopesOf(supported []string) []string {
	wanted := []string{"openid", "profile", "email", "groups", "roles"}
	return slices.DeleteFunc(wanted, func(s string) bool { return s != "openid" && !slices.Contains(supported, s) })
}

// unreachable is the error of a provider that can't be reached.
func unreachable(cause error) *sluice.Error {
	return sluice.Errorf(sluice.CodeProviderUnavailable, "The identity provider can't be asked. Try again soon.").
		Because(cause).After(retryAfter)
}

// share is outward.Share. A provider that does not answer is unreachable.
func share[V any](
	ctx context.Context, group *singleflight.Group, key string, run func(context.Context) (V, error),
) (V, error) {
	value, err := outward.Share(ctx, group, key, run)
	if _, ours := errors.AsType[*sluice.Error](err); err != nil && !ours {
		err = unreachable(err)
	}
	return value, err
}
