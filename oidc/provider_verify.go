package oidc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
	"sluice/limit"
)

// foreign is a valid token of the provider: whom it stands for.
type foreign struct {
	id    sluice.Identity
	key   string // that signed it
	nonce string // of the sign-in that it was made for
}

// Access checks an access token of the provider, which must be a JWT.
//
// ID tokens are refused where they can be recognised: Keycloak marks both kinds
// with the claim typ, RFC 9068 access tokens with the header, and with most
// others the audience differs, if one is configured. The access tokens of Dex
// are ID tokens in all but name, so there either is accepted.
func (p *Provider) Access(ctx context.Context, token string) (none sluice.Identity, _ error) {
	if len(token) > maxToken {
		return none, notAccepted()
	}
	digest := fingerprint(sha256.Sum256([]byte(token)))
	if known, ok := p.verified.Get(digest, p.now()); ok && p.current(ctx, known.key) {
		return known.id, nil
	}
	found, err := p.verify(ctx, token, false)
	if err != nil {
		p.verified.Drop(digest)
		return none, err
	}
	p.verified.Put(digest, found, found.id.Expires.Add(leeway))
	return found.id, nil
}

// current reports whether the provider still publishes a key.
func (p *Provider) current(ctx context.Context, key string) bool {
	r, err := p.remote(ctx)
	return err == nil && r.keys.want(ctx, key) == nil && r.keys.has(key)
}

// verify checks a token of the provider.
func (p *Provider) verify(ctx context.Context, token string, idToken bool) (found foreign, _ error) {
	parsed, err := parseJWT(token, algorithms)
	if err != nil {
		return found, notAccepted().Because(err)
	}
	header := parsed.Headers[0]
	r, err := p.remote(ctx)
	if err != nil {
		return found, err
	}
	if err := r.keys.want(ctx, header.KeyID); err != nil {
		return found, err
	}
	var registered jwt.Claims
	var claims map[string]any
	if err := r.keys.open(parsed, &registered, &claims); err != nil {
		return found, notAccepted().Because(err)
	}
	if !p.isIssuer(registered.Issuer) || !p.checkAudience(registered.Audience, idToken) {
		return found, notAccepted()
	}
	if registered.Expiry == nil { // without one it would be valid for ever
		return found, notAccepted().Because(jwt.ErrExpired)
	}
	if err := registered.ValidateWithLeeway(jwt.Expected{Time: p.now()}, leeway); err != nil {
		return found, notAccepted().Because(err)
	}
	id, ok := p.identity(claims)
	if !ok || !rightType(header, claims, idToken) {
		return found, notAccepted()
	}
	id.Expires = registered.Expiry.Time()
	return foreign{id, header.KeyID, textOf(claims, "nonce")}, nil
}

// isIssuer reports whether a name is that of the provider. Google leaves out the beginning of its own
// in some tokens.
func (p *Provider) isIssuer(name string) bool {
	const google = "accounts.google.com"
	return name == p.Issuer || name == google && p.Issuer == "https://"+google
}

// checkAudience reports whether a token is for us. If it is not, the settings may be
// wrong, so it logs the audience.
func (p *Provider) checkAudience(has []string, idToken bool) bool {
	wanted := p.Audience
	if idToken {
		wanted = p.ClientID
	}
	if slices.Contains(has, wanted) || !idToken && p.CLIClient != "" && slices.Contains(has, p.CLIClient) {
		return true
	}
	p.audienceHint.Do(func() {
		p.Log.Warn("A token of the identity provider is for another audience and was refused. Add the audience at "+
			"the provider, or set auth-audience to what its tokens have.",
			"wanted", wanted, "token", clip(strings.Join(has, " ")))
	})
	return false
}

// rightType reports whether a token may be of the kind that is wanted, by its
// header and by the claim of Keycloak.
func rightType(header jose.Header, claims map[string]any, idToken bool) bool {
	switch kind, _ := header.ExtraHeaders[jose.HeaderType].(string); strings.TrimPrefix(strings.ToLower(kind),
		"application/") {
	case "", "jwt":
	case "at+jwt":
		if idToken {
			return false
		}
	default:
		return false
	}
	want := accessClaim
	if idToken {
		want = idClaim
	}
	kind, marked := claims["typ"].(string)
	return !marked || strings.EqualFold(kind, want)
}

// identity reads from claims whom a token stands for. Roles are never nil, even
// if there are none: nil would mean that they are looked up here, where a user
// of the same name may have others.
func (p *Provider) identity(claims map[string]any) (id sluice.Identity, ok bool) {
	id.Username = p.username(claims)
	id.Roles = rolesAt(claims, p.RolesClaim)
	id.ClientID = cmp.Or(textOf(claims, "azp"), textOf(claims, "client_id"))
	id.Scope = textOf(claims, "scope")
	return id, id.Username != "" && len(id.Username) <= limit.MaxUsername && plain(id.Username)
}

// usernameClaim is where most providers have the username.
const usernameClaim = "preferred_username"

func (p *Provider) username(claims map[string]any) string {
	if name := textOf(claims, p.UsernameClaim); name != "" || p.UsernameClaim != usernameClaim {
		return name
	}
	// At some providers people can enter any address.
	if email := textOf(claims, "email"); email != "" && claims["email_verified"] == true {
		return email
	}
	return textOf(claims, "sub")
}

// rolesAt returns the roles at a path of claims. They are a list, or a single
// one.
func rolesAt(claims map[string]any, path string) []string {
	roles := []string{}
	switch found := claimAt(claims, path).(type) {
	case string:
		roles = append(roles, found)
	case []any:
		for _, role := range found {
			if name, ok := role.(string); ok {
				roles = append(roles, name)
			}
		}
	}
	return roles
}

// claimAt returns the claim at a dotted path. A claim may have dots in its own
// name, as URLs do, so the longest name is tried first.
func claimAt(claims map[string]any, path string) any {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		value, ok := claims[path[:end]]
		if !ok {
			continue
		}
		if end == len(path) {
			return value
		}
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		return claimAt(inner, path[end+1:])
	}
	return nil
}

func textOf(claims map[string]any, path string) string {
	text, _ := claimAt(claims, path).(string)
	return text
}
