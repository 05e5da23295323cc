package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSignIn: with the right password there is a session, which a sign-out ends
// for good.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.visitor()
	got := v.get("/webhooks?search=a")
	got.wants(t, http.StatusSeeOther)
	if to := got.header.Get("Location"); to != "/signin?next=%2Fwebhooks%3Fsearch%3Da" {
		t.Errorf("who is not signed in is sent to %q", to)
	}
	v.get("/signin?next=/webhooks").wants(t, 200, `name="next" value="/webhooks"`)
	v.post("/signin", "username", "admin", "password", "wrong").wants(t, 401, "is not right", `value="admin"`).lacks(t, "wrong")
	got = v.post("/signin", "username", "admin", "password", adminPassword, "next", "/webhooks?search=a").wants(t, http.StatusSeeOther)
	if to := got.header.Get("Location"); to != "/webhooks?search=a" {
		t.Errorf("after the sign-in comes %q", to)
	}
	v.get("/").wants(t, 200, "Overview", "admin")
	cookies := v.client.Jar.Cookies(address(t, s))

	v.post("/signout").wants(t, http.StatusSeeOther)
	v.get("/").wants(t, http.StatusSeeOther)
	v.client.Jar.SetCookies(address(t, s), cookies) // someone has kept them
	v.get("/").wants(t, http.StatusSeeOther)
}

func address(t *testing.T, s *service) *url.URL {
	t.Helper()
	u, err := url.Parse(s.base())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSessionCookie: scripts can't read it, other sites can't send it, and each
// sign-in has a new one of 256 bits.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setting string
		cookie  string
		secure  bool
	}{
		"plain HTTP": {"public-url=http://hooks.example.org", "sluice-session", false},
		"HTTPS":      {"public-url=https://hooks.example.org", "__Host-sluice-session", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, test.setting)
			seen := ""
			for range 2 {
				got := s.visitor().post("/signin", "username", "admin", "password", adminPassword).wants(t, http.StatusSeeOther)
				response := http.Response{Header: got.header}
				if len(response.Cookies()) != 1 {
					t.Fatalf("the cookies are %v", response.Cookies())
				}
				c := response.Cookies()[0]
				if c.Name != test.cookie || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure != test.secure || c.Path != "/" || c.Domain != "" {
					t.Errorf("the cookie is %v", c)
				}
				if len(c.Value) < 43 || c.Value == seen {
					t.Errorf("the value is %q, before it was %q", c.Value, seen)
				}
				seen = c.Value
			}
		})
	}
}

// TestSignInMakesANewSession: what a browser had before, be it planted, is worth
// nothing afterwards.
func TestSignInMakesANewSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	before := v.client.Jar.Cookies(address(t, s))
	v.post("/signin", "username", "admin", "password", adminPassword).wants(t, http.StatusSeeOther)
	v.get("/me").wants(t, 200)
	v.client.Jar.SetCookies(address(t, s), before)
	v.get("/me").wants(t, http.StatusSeeOther)
}

// TestSessionOutlastsARestart: people stay signed in.
func TestSessionOutlastsARestart(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	s.stop()
	s.resume()
	v.get("/me").wants(t, 200, "admin")
}

// TestUsersAreLookedUp: what changes about a user counts at the next page.
func TestUsersAreLookedUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	user := func(change map[string]any) {
		change["username"] = "eve"
		s.command("iam.user.put", change)
	}
	user(map[string]any{"password": "a long password", "roles": []string{"developer"}})
	v := s.signedIn("eve", "a long password")
	v.get("/webhooks").wants(t, 200, "New webhook")
	user(map[string]any{"roles": []string{"viewer"}})
	v.get("/webhooks").wants(t, 200).lacks(t, "New webhook")
	user(map[string]any{"disabled": true})
	v.get("/webhooks").wants(t, http.StatusSeeOther)
	user(map[string]any{"disabled": false})
	v.get("/webhooks").wants(t, http.StatusSeeOther) // the session is over, not asleep

	v = s.signedIn("eve", "a long password")
	user(map[string]any{"password": "another password"})
	v.get("/webhooks").wants(t, http.StatusSeeOther)
}

// TestWrongPasswordsAreThrottled: guessing here is as slow as anywhere.
func TestWrongPasswordsAreThrottled(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.visitor()
	for range 10 {
		got := v.post("/signin", "username", "admin", "password", "wrong")
		if got.status == http.StatusTooManyRequests {
			if got.header.Get("Retry-After") == "" {
				t.Error("nobody says when to come again")
			}
			return
		}
		got.wants(t, 401)
	}
	t.Error("ten guesses were let through")
}

// TestOnlyLocalPathsFollowASignIn: nobody is led to another site.
func TestOnlyLocalPathsFollowASignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, next := range []string{
		"//evil.example.org", "https://evil.example.org", `/\evil.example.org`, "javascript:alert(1)", "/\t/evil.example.org",
		"http:evil.example.org", "evil", "", "/signin", "///evil.example.org", "/%0d%0aSet-Cookie:x", "\x00",
	} {
		got := s.visitor().post("/signin", "username", "admin", "password", adminPassword, "next", next).wants(t, http.StatusSeeOther)
		if to := got.header.Get("Location"); to != "/" && to != "/%0d%0aSet-Cookie:x" {
			t.Errorf("%q leads to %q", next, to)
		}
	}
}

// TestEveryAnswerIsGuarded: headers keep other sites and injected content from
// doing anything.
func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	for _, path := range []string{"/", "/webhooks", "/nowhere", "/signin", "/calls/x"} {
		got := v.get(path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Cache-Control":           "no-store",
			"X-Frame-Options":         "DENY",
		} {
			if has := got.header.Get(name); has != want {
				t.Errorf("%s: %s is %q, want %q", path, name, has, want)
			}
		}
		for _, forbidden := range []string{" style=", "<style", " onclick=", "javascript:", "http://www.", "//cdn"} {
			got.lacks(t, forbidden)
		}
	}
}

// TestOtherSitesCannotAct: a form elsewhere does nothing here, nor does a link.
func TestOtherSitesCannotAct(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	form := url.Values{"eventKey": {"webhook.planted"}}.Encode()
	for name, alter := range map[string]func(*http.Request){
		"told by the browser": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"of the same domain":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"an old browser": func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "https://evil.example.org")
		},
		"a hidden origin": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
	} {
		t.Run(name, func(t *testing.T) {
			v.send("POST", "/webhooks/new", form, alter).wants(t, 403, "another site")
			v.send("POST", "/signout", "", alter).wants(t, 403)
		})
	}
	for _, path := range []string{"/signout", "/webhooks/x/try", "/calls/a:b/replay"} {
		if got := v.get(path); got.status != 404 {
			t.Errorf("GET %s answered %d", path, got.status)
		}
	}
	v.get("/webhooks").wants(t, 200).lacks(t, "webhook.planted")
}

// TestCookiesDoNotReachTheAPI: calls by HTTP need a header, whoever is signed in.
func TestCookiesDoNotReachTheAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	for _, path := range []string{"/api/v3/command/webhook.get", "/api/v3/events", "/api/v3/pipeline/x"} {
		if got := v.get(path); got.status != 401 || !strings.Contains(got.body, "authorization-missing") {
			t.Errorf("%s answered %d: %s", path, got.status, got.body)
		}
	}
}

// TestLiveNeedsASession: the one stream that the cookie opens is closed to others.
func TestLiveNeedsASession(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.visitor().get("/live").wants(t, http.StatusSeeOther)
	s.command("iam.role.put", map[string]any{"role": "blind", "permissions": []string{"webhook.get"}})
	s.command("iam.user.put", map[string]any{"username": "eve", "password": "a long password", "roles": []string{"blind"}})
	s.signedIn("eve", "a long password").get("/live").wants(t, 403)
}

// TestSignInIsAudited: who comes and goes is written down.
func TestSignInIsAudited(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.post("/signout").wants(t, http.StatusSeeOther)
	page := s.signedIn("admin", adminPassword).get("/audit?username=admin").wants(t, 200, "<code>login</code>", "<code>logout</code>", "portal")
	page.lacks(t, adminPassword)
}
