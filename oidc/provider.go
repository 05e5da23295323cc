package oidc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

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
	exchanges singleflight.Group
	busy      *limit.Slots // for the exchanges at the same time

	discovery *outward.Published[*remote]

	audienceHint, rolesHint rate.Sometimes // what the log repeats now and then
}

// NewProvider returns a provider. Nothing is sent to it yet.
func NewProvider(o ProviderOptions) *Provider {
	o.Audience, o.UsernameClaim = cmp.Or(o.Audience, o.ClientID), cmp.Or(o.UsernameClaim, usernameClaim)
	o.HTTP, o.Log = cmp.Or(o.HTTP, &http.Client{Timeout: outward.ShareTimeout}), cmp.Or(o.Log,
		slog.New(slog.DiscardHandler))
	p := &Provider{
		ProviderOptions: o,
		now:             time.Now,
		key:             sluice.RandomBytes(32),
		verified:        limit.NewCache[fingerprint, foreign](maxRemembered),
		exchanged:       limit.NewCache[fingerprint, exchanged](maxRemembered),
		busy:            limit.NewSlots(maxExchanges),
		audienceHint:    rate.Sometimes{Interval: hintEvery},
		rolesHint:       rate.Sometimes{Interval: hintEvery},
	}
	p.discovery = published(p, p.discovered, retryAfter/2)
	p.discovery.Failed = retryAfter
	return p
}

// published keeps what a provider publishes. Old content is better than none.
func published[T any](p *Provider, read func(content []byte) (T, error), every time.Duration) *outward.Published[T] {
	return outward.NewPublished(outward.PublishOptions[T]{
		Client: p.HTTP, Read: read, Longest: maxDocument, Every: every, Burst: publishedBurst, Kept: publishedKept,
		Now: func() time.Time { return p.now() },
	})
}

const (
	maxDocument    = 1 << 20 // bytes
	publishedBurst = 3
	publishedKept  = 365 * 24 * time.Hour // of a provider that can't be asked
)

// A remote is what discovery found out.
type remote struct {
	keys  *keySet
	oauth oauth2.Config
}

// remote returns what discovery found out, now or before.
func (p *Provider) remote(ctx context.Context) (*remote, error) {
	found, err := p.discovery.Get(ctx, strings.TrimSuffix(p.Issuer, "/")+sluice.OpenIDPath, publishedKept)
	if err != nil {
		return nil, unreachable(err)
	}
	return found, nil
}

// discovered reads how a provider describes itself (OpenID Connect Discovery, 3).
func (p *Provider) discovered(content []byte) (*remote, error) {
	var document struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Keys          string   `json:"jwks_uri"`
		Scopes        []string `json:"scopes_supported"`
		Methods       []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if document.Issuer != p.Issuer {
		return nil, fmt.Errorf("the provider calls itself %q instead of %q", document.Issuer, p.Issuer)
	}
	r := &remote{
		keys: &keySet{document.Keys, published(p, parseKeySet, keysCoolDown)},
		oauth: oauth2.Config{
			ClientID: p.ClientID, ClientSecret: p.ClientSecret, Scopes: scopesOf(document.Scopes),
			Endpoint: oauth2.Endpoint{
				AuthURL: document.Authorization, TokenURL: document.Token, AuthStyle: oauth2.AuthStyleInHeader,
			},
		},
	}
	if p.ClientSecret == "" || document.Methods != nil && !slices.Contains(document.Methods, "client_secret_basic") {
		r.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
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
	return sluice.CodeProviderUnavailable.Errorf("The identity provider can't be asked. Try again soon.").
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
