package portal_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// An issuer is an OpenID provider elsewhere, at which Anna is always signed in.
type issuer struct {
	*httptest.Server

	key       *ecdsa.PrivateKey
	challenge string // of the sign-in under way
	nonce     string
	roles     []string
	claims    map[string]any // that differ from what is right
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &issuer{key: key, roles: []string{"developer"}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"}, "scopes_supported": []string{"openid", "profile"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
	})
	mux.HandleFunc("/token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// token answers a code with tokens, if the verifier fits.
func (p *issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != "portal" || secret != "hush" || r.PostFormValue("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{
		"iss": p.URL, "aud": "portal", "sub": "1", "preferred_username": "anna", "groups": p.roles, "nonce": p.nonce,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	maps.Copy(claims, p.claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	if err != nil {
		panic(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	writeJSON(w, http.StatusOK, map[string]any{"access_token": "opaque", "token_type": "Bearer", "expires_in": 60, "id_token": token})
}

// begin goes to the provider, and gives what it was sent there with.
func (v *visitor) begin(p *issuer, next string) url.Values {
	v.t.Helper()
	got := v.get("/signin/provider?next="+url.QueryEscape(next)).wants(v.t, http.StatusSeeOther)
	to, err := url.Parse(got.header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), p.URL+"/authorize?") {
		v.t.Fatalf("the way to the provider is %v, %v", to, err)
	}
	query := to.Query()
	p.challenge, p.nonce = query.Get("code_challenge"), query.Get("nonce")
	return query
}

func startWith(t *testing.T, p *issuer) *service {
	t.Helper()
	return start(t, "auth-issuer="+p.URL, "auth-client-id=portal", "auth-client-secret=hush", "auth-roles-claim=groups", "public-url=http://hooks.example.org")
}

// TestSignInAtAProvider: who comes back from the provider with a code is signed
// in, with the roles that it tells.
func TestSignInAtAProvider(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	p.roles = []string{"admin"}
	s := startWith(t, p)
	v := s.visitor()
	v.get("/signin?next=/webhooks").wants(t, 200, "/signin/provider?next=%2fwebhooks").lacks(t, `type="password"`)
	sent := v.begin(p, "/webhooks")
	for name, want := range map[string]string{
		"client_id": "portal", "response_type": "code", "code_challenge_method": "S256", "redirect_uri": "http://hooks.example.org/signin/callback",
	} {
		if sent.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, sent.Get(name), want)
		}
	}
	got := v.get("/signin/callback?code=the-code&state="+sent.Get("state")).wants(t, http.StatusSeeOther)
	if to := got.header.Get("Location"); to != "/webhooks" {
		t.Errorf("after the sign-in comes %q", to)
	}
	v.get("/webhooks").wants(t, 200, "anna", "New webhook").lacks(t, ">Users<", ">Clients<")
	v.get("/users").wants(t, 409, "external identity provider")
	v.post("/signin", "username", "admin", "password", adminPassword).wants(t, 404)
	s.visitor().get("/signin/callback?code=the-code&state="+sent.Get("state")).wants(t, 400)
}

// TestSessionsEndWithTheirProvider: what it said counts no longer when people sign in
// elsewhere, nor do our own users where there is a provider.
func TestSessionsEndWithTheirProvider(t *testing.T) {
	t.Parallel()
	p, other := newIssuer(t), newIssuer(t)
	p.roles = []string{"admin"}
	s := startWith(t, p)
	trusting := s.config
	v := s.visitor()
	v.get("/signin/callback?code=the-code&state="+v.begin(p, "/").Get("state")).wants(t, http.StatusSeeOther)
	v.get("/webhooks").wants(t, 200)
	trust := func(issuer string) {
		t.Helper()
		s.stop()
		s.config = trusting
		if s.config.AuthIssuer = issuer; issuer == "" {
			s.config.AuthClientID, s.config.AuthClientSecret = "", ""
		}
		s.resume()
	}
	trust(other.URL)
	v.get("/webhooks").wants(t, http.StatusSeeOther)
	trust("")
	v.get("/webhooks").wants(t, http.StatusSeeOther)
	ours := s.signedIn("admin", adminPassword)
	ours.get("/webhooks").wants(t, 200)
	trust(p.URL)
	ours.get("/webhooks").wants(t, http.StatusSeeOther)
	v.get("/webhooks").wants(t, 200)
}

// TestBadReturnsFromAProvider: nobody is signed in by what does not belong to a
// sign-in of that browser.
func TestBadReturnsFromAProvider(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s := startWith(t, p)
	for name, test := range map[string]struct {
		change func(*visitor, url.Values) string // gives the query of the return
		claims map[string]any
		status int
	}{
		"no state":      {func(*visitor, url.Values) string { return "code=the-code" }, nil, 400},
		"another state": {func(*visitor, url.Values) string { return "code=the-code&state=x" }, nil, 400},
		"another browser": {func(v *visitor, sent url.Values) string {
			v.client.Jar = nil
			return "code=the-code&state=" + sent.Get("state")
		}, nil, 400},
		"no code":      {func(_ *visitor, sent url.Values) string { return "error=access_denied&state=" + sent.Get("state") }, nil, 403},
		"a wrong code": {func(_ *visitor, sent url.Values) string { return "code=x&state=" + sent.Get("state") }, nil, 403},
		"a wrong verifier": {func(_ *visitor, sent url.Values) string {
			p.challenge = "x"
			return "code=the-code&state=" + sent.Get("state")
		}, nil, 403},
		"another nonce":    {func(_ *visitor, sent url.Values) string { return "code=the-code&state=" + sent.Get("state") }, map[string]any{"nonce": "x"}, 403},
		"another audience": {func(_ *visitor, sent url.Values) string { return "code=the-code&state=" + sent.Get("state") }, map[string]any{"aud": "x"}, 503},
		"expired":          {func(_ *visitor, sent url.Values) string { return "code=the-code&state=" + sent.Get("state") }, map[string]any{"exp": 1}, 503},
	} {
		t.Run(name, func(t *testing.T) {
			v := s.visitor()
			sent := v.begin(p, "/")
			p.claims = test.claims
			defer func() { p.claims = nil }()
			v.get("/signin/callback?"+test.change(v, sent)).wants(t, test.status)
			v.get("/").wants(t, http.StatusSeeOther)
		})
	}
}

// TestRolesOfAProviderAreNobodysElse: without roles there, a user may do nothing
// here, also if there is a user of that name.
func TestRolesOfAProviderAreNobodysElse(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	p.roles, p.claims = nil, map[string]any{"preferred_username": "admin"}
	s := startWith(t, p)
	v := s.visitor()
	sent := v.begin(p, "/")
	v.get("/signin/callback?code=the-code&state="+sent.Get("state")).wants(t, http.StatusSeeOther)
	v.get("/webhooks").wants(t, 403, "webhook.get")
	v.get("/").wants(t, 200, "You have no role yet").lacks(t, ">Webhooks<")
}
