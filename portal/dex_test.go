package portal_test

import (
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sluice/oidc/oidctest"
)

const dexPassword = "dex-password"

// A dexVisitor is someone who signs in to the portal at Dex, form by form.
type dexVisitor struct {
	*visitor

	atDex *http.Client
}

func (s *service) dexVisitor(t *testing.T) *dexVisitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	here := s.visitor()
	here.t = t
	return &dexVisitor{here, &http.Client{
		Jar: jar, Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(to.URL.String(), oidctest.BaseURL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// leave goes to the provider, and gives the address of the page there.
func (v *dexVisitor) leave(next string) string {
	v.t.Helper()
	got := v.get("/signin/provider?next="+url.QueryEscape(next)).wants(v.t, http.StatusSeeOther)
	cookies := (&http.Response{Header: got.header}).Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].MaxAge > 600 {
		v.t.Errorf("what the way back is checked with is in %v", cookies)
	}
	return got.header.Get("Location")
}

var (
	formAction = regexp.MustCompile(`<form[^>]*action="([^"]*)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// signInAt fills in the forms of Dex, and gives the query with which it sends the
// browser back; nil if it does not.
func (v *dexVisitor) signInAt(address, email, password string) url.Values {
	v.t.Helper()
	const steps = 5
	fields := url.Values(nil) // of the form that is sent; nil: the page is fetched
	for range steps {
		request, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, address, nil)
		if fields != nil {
			request, err = http.NewRequestWithContext(v.t.Context(), http.MethodPost, address, strings.NewReader(fields.Encode()))
		}
		if err != nil {
			v.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := v.atDex.Do(request)
		if err != nil {
			v.t.Fatal(err)
		}
		content := readAll(v.t, response)
		if back, err := response.Location(); err == nil {
			if !strings.HasPrefix(back.String(), oidctest.BaseURL+"/signin/callback?") {
				v.t.Fatalf("Dex leads to %s", back)
			}
			return back.Query()
		}
		if response.StatusCode == http.StatusUnauthorized {
			return nil
		}
		address, fields = nextForm(v.t, response, content)
		if strings.Contains(content, `name="password"`) {
			fields.Set("login", email)
			fields.Set("password", password)
		}
	}
	v.t.Fatal("Dex asks for more and more")
	return nil
}

// nextForm returns where the form of a page of Dex goes, and its hidden fields.
func nextForm(t *testing.T, response *http.Response, content string) (address string, fields url.Values) {
	t.Helper()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("Dex answered %d: %s", response.StatusCode, content)
	}
	to := response.Request.URL
	if action := formAction.FindStringSubmatch(content); action != nil && action[1] != "" {
		next, err := to.Parse(html.UnescapeString(action[1]))
		if err != nil {
			t.Fatal(err)
		}
		to = next
	}
	fields = url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(content, -1) {
		if !fields.Has(field[1]) { // of two forms the first is the one that goes on
			fields.Set(field[1], html.UnescapeString(field[2]))
		}
	}
	return to.String(), fields
}

// TestSignInAtDex: people sign in to the portal at a provider that others wrote,
// with the roles it gives them, and only by a sign-in that they began themselves.
func TestSignInAtDex(t *testing.T) {
	t.Parallel()
	issuer := oidctest.StartDex(t)
	s := start(t, "auth-issuer="+issuer, "auth-client-id=receiver", "auth-client-secret=receiver-secret", "auth-roles-claim=groups", "public-url="+oidctest.BaseURL)

	t.Run("with a role", func(t *testing.T) {
		v := s.dexVisitor(t)
		query := v.signInAt(v.leave("/webhooks"), "anna@example.com", dexPassword)
		got := v.get("/signin/callback?"+query.Encode()).wants(t, http.StatusSeeOther)
		if to := got.header.Get("Location"); to != "/webhooks" {
			t.Errorf("after the sign-in comes %q", to)
		}
		var session *http.Cookie
		for _, cookie := range (&http.Response{Header: got.header}).Cookies() {
			switch {
			case cookie.Name == "sluice-session":
				session = cookie
			case cookie.MaxAge >= 0:
				t.Errorf("the cookie %s stays", cookie.Name)
			}
		}
		if session == nil || !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Secure || session.Path != "/" {
			t.Fatalf("the session's cookie is %v", session)
		}
		v.get("/webhooks").wants(t, 200, "anna@example.com", "New webhook").lacks(t, ">Users<", ">Clients<", ">Audit log<")
		v.get("/me").wants(t, 200, "developer").lacks(t, `type="password"`)
		v.post("/webhooks/new", "eventKey", "webhook.dex").wants(t, http.StatusSeeOther)
		v.get("/audit").wants(t, http.StatusForbidden)
		v.get("/signin/callback?"+query.Encode()).wants(t, http.StatusBadRequest) // a second time
		v.post("/signout").wants(t, http.StatusSeeOther)
		v.get("/webhooks").wants(t, http.StatusSeeOther)
		kept := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: session.Name, Value: session.Value}) }
		s.visitor().send("GET", "/webhooks", "", kept).wants(t, http.StatusSeeOther) // what was copied is over, too
	})
	t.Run("without roles", func(t *testing.T) {
		v := s.dexVisitor(t)
		query := v.signInAt(v.leave("/"), "otto@example.com", dexPassword)
		v.get("/signin/callback?"+query.Encode()).wants(t, http.StatusSeeOther)
		v.get("/").wants(t, 200, "otto@example.com").lacks(t, ">Webhooks<")
		v.get("/webhooks").wants(t, http.StatusForbidden, "webhook.get")
	})
	t.Run("with a wrong password", func(t *testing.T) {
		v := s.dexVisitor(t)
		if query := v.signInAt(v.leave("/"), "anna@example.com", "wrong"); query != nil {
			t.Errorf("Dex sends the browser back with %v", query)
		}
	})
	for name, change := range map[string]func(v *dexVisitor, query url.Values) int{
		"with another state": func(_ *dexVisitor, query url.Values) int { query.Set("state", "x"); return 400 },
		"in another browser": func(v *dexVisitor, _ url.Values) int { v.visitor = s.visitor(); return 400 },
		"in a browser on a sign-in of its own": func(v *dexVisitor, query url.Values) int {
			v.visitor = s.visitor()
			began, err := url.Parse(v.leave("/"))
			if err != nil {
				t.Fatal(err)
			}
			query.Set("state", began.Query().Get("state")) // the verifier does not fit the code
			return 403
		},
		"with another code": func(_ *dexVisitor, query url.Values) int { query.Set("code", "x"); return 403 },
	} {
		t.Run(name, func(t *testing.T) {
			v := s.dexVisitor(t)
			query := v.signInAt(v.leave("/"), "anna@example.com", dexPassword)
			status := change(v, query)
			v.get("/signin/callback?"+query.Encode()).wants(t, status)
			v.get("/").wants(t, http.StatusSeeOther)
		})
	}
}
