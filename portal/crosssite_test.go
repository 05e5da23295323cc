package portal_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestAnotherSiteInABrowser: a real browser is not asked for a password by the
// API, so that it has none to remember; and even with one, a page of another site
// makes it do nothing.
func TestAnotherSiteInABrowser(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	withPassword := strings.Replace(s.base(), "http://", "http://admin:"+url.PathEscape(adminPassword)+"@", 1)
	b.do(chromedp.Navigate(withPassword + "/api/v3/command/iam.whoami"))
	b.wants("authorization-missing")

	another := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<form method="post" action="` + s.base() + `/api/v3/command/iam.user.put">
<input name="username" value="csrfadmin"><input name="password" value="made by another site"><input name="roles" value="admin"><button>Win</button></form>`))
	}))
	defer another.Close()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { // as if the browser had remembered it
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+adminPassword))
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Authorization": basic}})
		return err
	}))
	b.open("/api/v3/command/iam.whoami")
	b.wants(`"username":"admin"`)
	b.do(chromedp.Navigate(strings.Replace(another.URL, "127.0.0.1", "localhost", 1)))
	b.follow("button")
	b.wants("cross-origin")
	for _, user := range s.users() {
		if user == "csrfadmin" {
			t.Error("another site has made an administrator")
		}
	}
}

// users returns the names of all users.
func (s *service) users() (names []string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.base()+"/api/v3/command/iam.user.get", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("admin", adminPassword)
	got := s.do(r)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"username":"admin"`) {
		s.t.Fatalf("the users are %d %s", got.status, got.body)
	}
	for part := range strings.SplitSeq(got.body, `"username":"`) {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	return names
}
