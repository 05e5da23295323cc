package oidc

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

// A counter counts the requests that a provider makes, by path.
type counter struct {
	mu    sync.Mutex
	paths map[string]int
	down  atomic.Bool // answer 500 to all
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.paths[r.URL.Path]++
	c.mu.Unlock()
	if c.down.Load() {
		return &http.Response{StatusCode: http.StatusInternalServerError, Status: "500", Body: http.NoBody, Header: http.Header{}, Request: r}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (c *counter) of(f *fixture, endpoint string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paths["/auth/realms/"+f.Namespace+protocol+"/"+endpoint]
}

// newProvider returns a provider whose other side is a fixture, over HTTP.
func newProvider(f *fixture, change func(*ProviderOptions)) (*Provider, *counter) {
	count := &counter{paths: make(map[string]int)}
	o := ProviderOptions{
		Issuer:       f.URL(),
		ClientID:     secretID,
		ClientSecret: robotSecret,
		Audience:     ownAudience,
		RolesClaim:   "roles",
		HTTP:         &http.Client{Transport: count},
	}
	if change != nil {
		change(&o)
	}
	p := NewProvider(o)
	p.now = f.now
	f.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return p, count
}

func kindOf(err error) sluice.Kind { return sluice.AsError(err).Kind }

func TestProviderTellsWhoseAccessTokenItIs(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	r := f.login("openid")
	for range 3 {
		id, err := p.Access(t.Context(), r.str("access_token"))
		if err != nil {
			t.Fatal(err)
		}
		want := sluice.Identity{Username: userName, ClientID: publicID, Roles: []string{"developer", "viewer"}, Scope: "openid", Expires: id.Expires}
		if diff := cmp.Diff(want, id); diff != "" || id.Expires.IsZero() {
			t.Error(diff)
		}
	}
	if n := count.of(f, "certs"); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestProviderRefusesBadTokens(t *testing.T) {
	f := newFixture(t)
	p, _ := newProvider(f, nil)
	r := f.login("openid")
	header, claims := decodePart(t, r.str("access_token"), 0), decodePart(t, r.str("access_token"), 1)
	delete(header, "alg")
	sign := func(name string, value any) string {
		changed := maps.Clone(claims)
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
		return forge(t, "ES256", f.privateKey(), header, changed)
	}
	if _, err := p.Access(t.Context(), sign("jti", "x")); err != nil {
		t.Fatalf("a token signed with the provider's key is refused: %v", err)
	}
	for name, token := range map[string]string{
		"garbage":        "x.y.z",
		"empty":          "",
		"ID token":       r.str("id_token"),
		"refresh token":  r.str("refresh_token"),
		"typ ID":         sign("typ", "ID"),
		"typ Refresh":    sign("typ", "Refresh"),
		"alg none":       encode(t, map[string]any{"alg": "none", "kid": header["kid"]}, claims, ""),
		"HS256":          forge(t, "HS256", make([]byte, 32), header, claims),
		"expired":        sign("exp", time.Now().Add(-2*leeway).Unix()),
		"no exp":         sign("exp", nil),
		"not yet valid":  sign("nbf", time.Now().Add(2*leeway).Unix()),
		"wrong audience": sign("aud", "another"),
		"wrong issuer":   sign("iss", "http://evil.example"),
		"odd header typ": forge(t, "ES256", f.privateKey(), map[string]any{"typ": "logout+jwt", "kid": header["kid"]}, claims),
		"oversize":       sign("x", string(make([]byte, maxToken))),
	} {
		if _, err := p.Access(t.Context(), token); kindOf(err) != sluice.Unauthenticated || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProviderFollowsKeyRotation(t *testing.T) {
	f := newFixture(t)
	p, _ := newProvider(f, nil)
	old := f.login("").str("access_token")
	if _, err := p.Access(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	f.wait(f.Rotation)
	young := f.login("").str("access_token")
	if _, err := p.Access(t.Context(), young); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
	f.wait(keysMaxAge + time.Second)
	f.login("") // deletes the old key
	if _, err := p.Access(t.Context(), f.login("").str("access_token")); err != nil {
		t.Error(err)
	}
	if r, _ := p.remote(t.Context()); r.keys.has(decodePart(t, old, 0)["kid"].(string)) {
		t.Error("a key that was withdrawn is still trusted")
	}
}

// TestProviderIsNotAskedForEveryMadeUpKey: whether a key exists is unknown
// unless the provider was asked for it.
func TestProviderIsNotAskedForEveryMadeUpKey(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	good := f.login("").str("access_token")
	header, claims := decodePart(t, good, 0), decodePart(t, good, 1)
	delete(header, "alg")
	refused := 0
	for range 50 {
		header["kid"] = random(familySize)
		before := count.of(f, "certs")
		_, err := p.Access(t.Context(), forge(t, "ES256", f.privateKey(), header, claims))
		e, want := sluice.AsError(err), sluice.Unavailable
		if count.of(f, "certs") > before {
			want = sluice.Unauthenticated
			refused++
		}
		if e.Kind != want || (e.RetryAfter > 0) != (want == sluice.Unavailable) || e.RetryAfter > keysCoolDown {
			t.Fatalf("after %d fetches: %v, try again in %s", count.of(f, "certs"), err, e.RetryAfter)
		}
	}
	if refused != publishedBurst {
		t.Errorf("50 made-up key ids made %d fetches", refused)
	}
	if _, err := p.Access(t.Context(), good); err != nil {
		t.Errorf("a token of a key that is known is refused meanwhile: %v", err)
	}
	f.wait(keysCoolDown)
	if _, err := p.Access(t.Context(), forge(t, "ES256", f.privateKey(), header, claims)); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("after the time to wait: %v", err)
	}
}

// TestProviderIsAskedOnceForANewKey: the calls that come at a rotation share
// one fetch, and none of them is refused.
func TestProviderIsAskedOnceForANewKey(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	var tokens []string
	for range 20 {
		tokens = append(tokens, f.login("").str("access_token"))
	}
	var wg sync.WaitGroup
	for _, token := range tokens {
		wg.Go(func() {
			if _, err := p.Access(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := count.of(f, "certs"); n > publishedBurst {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestProviderTellsTheOperatorOfAWrongAudience(t *testing.T) {
	f := newFixture(t)
	log := new(bytes.Buffer)
	p, _ := newProvider(f, func(o *ProviderOptions) {
		o.Audience = "what-is-wanted"
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	for range 5 {
		if _, err := p.Access(t.Context(), f.login("").str("access_token")); kindOf(err) != sluice.Unauthenticated {
			t.Fatal(err)
		}
	}
	if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "wanted=what-is-wanted") || !strings.Contains(said, "token="+ownAudience) {
		t.Errorf("the log says %q", said)
	}
}

func TestProviderThatIsDownIsUnavailable(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid")
	for name, broken := range map[string]func(*fixture, *counter){
		"closed port": func(f *fixture, _ *counter) { f.server.Close() },
		"status 500":  func(_ *fixture, c *counter) { c.down.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newFixture(t)
			p, count := newProvider(g, nil)
			broken(g, count)
			check := func(what string, err error) {
				t.Helper()
				if e := sluice.AsError(err); e.Kind != sluice.Unavailable || e.RetryAfter <= 0 {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := p.Access(t.Context(), r.str("access_token"))
			check("access token", err)
			_, _, err = p.Refresh(t.Context(), r.str("refresh_token"))
			check("refresh token", err)
			_, err = p.Password(t.Context(), userName, userPassword)
			check("password", err)
		})
	}
}

// TestAProviderThatNeverEnds: not more of its document is read than it can need.
func TestAProviderThatNeverEnds(t *testing.T) {
	sent := make(chan int64, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, _ := io.Copy(w, io.LimitReader(spaces{}, 64*maxDocument)) // ends when the other side does
		sent <- n
	}))
	defer server.Close()
	p := NewProvider(ProviderOptions{Issuer: server.URL, ClientID: "sluice"})
	if _, err := p.Password(t.Context(), userName, userPassword); kindOf(err) != sluice.Unavailable {
		t.Errorf("the error is %v", err)
	}
	if n := <-sent; n > 16*maxDocument { // sockets hold some
		t.Errorf("%d bytes were read", n)
	}
	p.HTTP.CloseIdleConnections()
}

// spaces is white space without an end.
type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestProviderThatGoesDownAndComesBack(t *testing.T) {
	f := newFixture(t)
	p, count := newProvider(f, nil)
	token := f.login("").str("access_token")
	count.down.Store(true)
	if _, err := p.Access(t.Context(), token); kindOf(err) != sluice.Unavailable {
		t.Fatalf("error is %v", err)
	}
	count.down.Store(false)
	if _, err := p.Access(t.Context(), token); kindOf(err) != sluice.Unavailable {
		t.Errorf("the provider is asked again at once: %v", err)
	}
	f.wait(retryAfter)
	if _, err := p.Access(t.Context(), token); err != nil {
		t.Errorf("the provider is back: %v", err)
	}
	count.down.Store(true)
	if _, err := p.Access(t.Context(), f.login("").str("access_token")); err != nil {
		t.Errorf("a token of a key that is known needs no provider: %v", err)
	}
	if _, err := p.Password(t.Context(), userName, userPassword); kindOf(err) != sluice.Unavailable {
		t.Errorf("error is %v", err)
	}
	f.wait(keysMaxAge)
	if _, err := p.Access(t.Context(), f.login("").str("access_token")); err != nil {
		t.Errorf("old keys are better than none: %v", err)
	}
}
