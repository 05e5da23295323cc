package portal_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	goidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// A program runs on a person's machine and uses a third-party library. It knows only the
// issuer's URL.
type program struct {
	t        *testing.T
	s        *service
	config   oauth2.Config
	verifier string
	came     chan url.Values // what browsers have brought
}

// program starts a program that waits for a browser at a free port.
func (s *service) program(clientID string) *program {
	s.t.Helper()
	provider, err := goidc.NewProvider(context.WithoutCancel(s.t.Context()), s.base()+"/auth/realms/default")
	if err != nil {
		s.t.Fatal(err)
	}
	p := &program{t: s.t, s: s, verifier: oauth2.GenerateVerifier(), came: make(chan url.Values, 10)}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "All done.") }))
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			p.came <- r.URL.Query()
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusFound) // as some programs do
	}))
	s.t.Cleanup(listener.Close)
	s.t.Cleanup(elsewhere.Close)
	p.config = oauth2.Config{ClientID: clientID, RedirectURL: listener.URL + "/callback", Endpoint: provider.Endpoint(), Scopes: []string{"openid"}}
	return p
}

// path is where the program sends the browser.
func (p *program) path(more ...oauth2.AuthCodeOption) string {
	p.t.Helper()
	return strings.TrimPrefix(p.config.AuthCodeURL("the-state", append(more, oauth2.S256ChallengeOption(p.verifier))...), p.s.base())
}

// changed returns a path with another parameter.
func changed(t *testing.T, path, name, value string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// location returns where an answer sends the browser.
func location(t *testing.T, a answer) (target string, query url.Values) {
	t.Helper()
	u, err := url.Parse(a.wants(t, http.StatusSeeOther).header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	query = u.Query()
	u.RawQuery = ""
	return u.String(), query
}

// TestPersonLetsAProgramIn: in a real browser, with a real library, from the
// sign-in to a call of the API.
func TestPersonLetsAProgramIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.program("sluice")
	b := s.browse()
	b.open(p.path())
	b.wants("A program asks to act for you")
	b.fill("#username", "admin")
	b.fill("#password", adminPassword)
	b.follow("button.main")
	b.wants("Let sluice act for you?", "The program sluice on this computer", "admin (roles: admin)", "Everything.", "30 days at most", "refuse")
	b.followText("Allow")
	b.wants("All done.")
	answer := <-p.came
	if answer.Get("state") != "the-state" || answer.Get("iss") != s.base()+"/auth/realms/default" || answer.Get("error") != "" {
		t.Fatalf("the browser brings %v", answer)
	}
	token, err := p.config.Exchange(t.Context(), answer.Get("code"), oauth2.VerifierOption(p.verifier))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.base()+"/api/v3/command/iam.whoami", nil)
	if err != nil {
		t.Fatal(err)
	}
	token.SetAuthHeader(r)
	s.do(r).wants(t, 200, `"username":"admin"`)

	// The person is signed in by now, and asked all the same.
	b.open(p.path())
	b.followText("Refuse")
	b.wants("All done.")
	if answer := <-p.came; answer.Get("error") != "access_denied" || answer.Get("code") != "" || answer.Get("state") != "the-state" {
		t.Errorf("the browser brings %v", answer)
	}
	s.signedIn("admin", adminPassword).get("/audit?username=admin").wants(t, 200, "<code>login</code>", "sluice")
}

// TestProgramsPageInAFrame: a real browser does not show it in a page of another
// site, so that nobody clicks on it without seeing it.
func TestProgramsPageInAFrame(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.program("sluice")
	b := s.browse()
	b.signIn("admin", adminPassword)
	another := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<iframe src="`+html.EscapeString(s.base()+p.path())+`"></iframe>`)
	}))
	defer another.Close()
	b.do(chromedp.Navigate(another.URL), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		found, err := cdp.Call(ctx, target, page.GetFrameTree, cdp.Empty{})
		if err == nil && (len(found.FrameTree.ChildFrames) != 1 || found.FrameTree.ChildFrames[0].Frame.UnreachableURL == "") {
			t.Errorf("the frame shows %+v", found.FrameTree.ChildFrames)
		}
		return err
	}))
}

// TestOnlyThePersonAllows: no GET, no other site and nobody without a session
// gets a code.
func TestOnlyThePersonAllows(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.program("sluice")
	path := p.path()
	if target, query := location(t, s.visitor().get(path)); target != "/signin" || !strings.HasPrefix(query.Get("next"), "/authorize?") {
		t.Errorf("who is not signed in is sent to %s %v", target, query)
	}
	if target, _ := location(t, s.visitor().post(path, "answer", "allow")); target != "/signin" {
		t.Errorf("who is not signed in and allows it is sent to %s", target)
	}
	v := s.signedIn("admin", adminPassword)
	shown := v.get(path+"&answer=allow").wants(t, 200, "Let sluice act for you?")
	if shown.header.Get("X-Frame-Options") != "DENY" || !strings.Contains(shown.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("the page can be framed: %v", shown.header)
	}
	v.send("POST", path, "answer=allow", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).wants(t, 403, "another site")
	v.send("POST", path, "answer=allow", func(r *http.Request) {
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Set("Origin", "http://127.0.0.1:1")
	}).wants(t, 403)
	for _, answer := range []string{"", "deny", "ALLOW"} {
		if _, query := location(t, v.post(path, "answer", answer)); query.Get("error") != "access_denied" || query.Has("code") {
			t.Errorf("%q is answered with %v", answer, query)
		}
	}
	if target, query := location(t, v.post(path, "answer", "allow")); target != p.config.RedirectURL || query.Get("code") == "" {
		t.Errorf("the answer is %s %v", target, query)
	}
}

// TestAuthorizationRequests: errors go to the person or the program, as they should, and
// people sign in again if the program asks for it.
func TestAuthorizationRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.program("sluice")
	v := s.signedIn("admin", adminPassword)
	v.get("/authorize").wants(t, 400, "client_id")
	v.get(changed(t, p.path(), "client_id", "<b>")).wants(t, 400).lacks(t, "<b>")
	v.get(changed(t, p.path(), "redirect_uri", "https://evil.example.org")).wants(t, 400, "redirect_uri")
	for _, test := range []struct{ parameter, value, reason string }{
		{"code_challenge_method", "plain", "invalid_request"},
		{"code_challenge_method", "", "invalid_request"},
		{"code_challenge", "", "invalid_request"},
		{"response_type", "token", "unsupported_response_type"},
	} {
		path := changed(t, p.path(), test.parameter, test.value)
		for _, got := range []answer{v.get(path), v.post(path, "answer", "allow")} {
			if target, query := location(t, got); target != p.config.RedirectURL || query.Get("error") != test.reason || query.Has("code") {
				t.Errorf("%+v leads to %s %v", test, target, query)
			}
		}
	}
	if _, query := location(t, v.get(p.path(oauth2.SetAuthURLParam("prompt", "none")))); query.Get("error") != "interaction_required" {
		t.Errorf("who must not be asked is sent on with %v", query)
	}
	for _, again := range []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0")} {
		target, query := location(t, v.get(p.path(again)))
		if target != "/signin" {
			t.Errorf("%v leads to %s", again, target)
		}
		next := v.post("/signin", "username", "admin", "password", adminPassword, "next", query.Get("next")).wants(t, http.StatusSeeOther).header.Get("Location")
		v.get(next).wants(t, 200, "Let sluice act for you?")
	}
}

// TestRegisteredProgram: a registered program with a secret gets its codes only at its
// own redirect URI.
func TestRegisteredProgram(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.command("iam.client.put", map[string]any{
		"clientId": "dashboard", "grants": []string{"authorization_code", "refresh_token"},
		"redirectUris": []string{"https://dashboard.example.org/cb", "http://localhost/callback"},
	})
	p := s.program("dashboard")
	p.config.ClientSecret, _ = made["secret"].(string)
	v := s.signedIn("admin", adminPassword)
	v.get(p.path()).wants(t, 400, "redirect_uri") // it is at 127.0.0.1
	p.config.RedirectURL = strings.Replace(p.config.RedirectURL, "127.0.0.1", "localhost", 1)
	v.get(p.path()).wants(t, 200, "on this computer asks")
	p.config.RedirectURL = "https://dashboard.example.org/cb"
	v.get(p.path()).wants(t, 200, "dashboard</b> at <b>dashboard.example.org")
	_, query := location(t, v.post(p.path(), "answer", "allow"))
	if _, err := p.config.Exchange(t.Context(), query.Get("code"), oauth2.VerifierOption(p.verifier)); err != nil {
		t.Error(err)
	}
}
