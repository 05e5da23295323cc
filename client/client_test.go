package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/client"
)

// answering serves what handle says, for what no server of ours would answer at
// once.
func answering(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return newClient(t, server.URL, client.Fixed("Bearer secret"))
}

// TestARedirectIsNoAnswer: its page is not taken for a source, a document or a
// backup. The error names the place and nothing of its path.
func TestARedirectIsNoAnswer(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://hooks.example.com/path?token=secret", http.StatusMovedPermanently)
	})
	for name, call := range map[string]func() error{
		"command":  func() error { _, err := c.Command(t.Context(), "webhook.get", nil, nil); return err },
		"source":   func() error { _, _, err := c.PipelineSource(t.Context(), "a", ""); return err },
		"store":    func() error { _, err := c.PutPipeline(t.Context(), "a", "pipeline: []", false); return err },
		"run":      func() error { _, err := c.RunPipeline(t.Context(), "a", nil, nil); return err },
		"download": func() error { _, err := c.Download(t.Context(), "server.backup", nil); return err },
		"call":     func() error { _, err := c.Call(t.Context(), "x", nil, nil); return err },
		"result":   func() error { _, err := c.Result(t.Context(), "x"); return err },
		"wait":     func() error { _, err := c.Await(t.Context(), "x", func(string) {}); return err },
	} {
		e := sluice.AsError(call())
		if e.Code != "redirected" || !strings.Contains(e.Message, "to https://hooks.example.com;") || strings.Contains(e.Message, "secret") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestFailuresHaveTheirKinds(t *testing.T) {
	for answer, want := range map[string]sluice.Kind{
		"401 {}":                           sluice.Unauthenticated,
		"403 {}":                           sluice.Forbidden,
		"404 {}":                           sluice.NotFound,
		"404 <html>":                       sluice.NotFound,
		"409 {}":                           sluice.Conflict,
		"410 {}":                           sluice.Gone,
		"413 {}":                           sluice.TooLarge,
		"418 {}":                           sluice.Invalid,
		"429 {}":                           sluice.Throttled,
		"500 ":                             sluice.Internal,
		"502 <html>bad gateway</html>":     sluice.Unavailable,
		"503 {}":                           sluice.Unavailable,
		`400 {"error":"invalid_grant"}`:    sluice.Unauthenticated,
		`400 {"error":"invalid_request"}`:  sluice.Invalid,
		`400 {"detail":7,"code":"x"}`:      sluice.Invalid,
		`400 {"detail":"No.","code":"xy"}`: sluice.Invalid,
	} {
		c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			status := 0
			fmt.Sscanf(answer, "%d", &status)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer[4:])
		})
		_, err := c.Command(t.Context(), "webhook.get", nil, nil)
		e := sluice.AsError(err)
		if e.Kind != want || e.Code == "" || e.Message == "" || e.RetryAfter != 7*time.Second {
			t.Errorf("%s: got kind %s, code %q, message %q, after %s", answer, e.Kind, e.Code, e.Message, e.RetryAfter)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := newClient(t, server.URL, client.Fixed(""))
	_, err := c.Command(t.Context(), "iam.whoami", nil, nil)
	if e := sluice.AsError(err); e.Kind != sluice.Unavailable || !strings.Contains(e.Message, server.URL+" can't be reached") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Command(ctx, "iam.whoami", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// TestCredentialsStayHere: no redirect takes them elsewhere.
func TestCredentialsStayHere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("called elsewhere with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, _ = c.Command(t.Context(), "webhook.get", nil, nil)
	_, _, err := c.PipelineSource(t.Context(), "x", "")
	t.Logf("a source that is elsewhere: %v", err)
	_ = c.Follow(t.Context(), nil, func(sluice.TailEntry) error { return nil })
}

func TestURLsOfServers(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8080/":          "http://127.0.0.1:8080",
		"https://Hooks.Example.org/base/": "https://hooks.example.org/base",
		// The scheme that people leave out.
		"127.0.0.1:8080": "http://127.0.0.1:8080", "localhost:8080/": "http://localhost:8080", "[::1]:8080": "http://[::1]:8080",
		"10.0.0.7": "http://10.0.0.7", "sluice:8080": "http://sluice:8080", "hooks.lan": "http://hooks.lan",
		"hooks.example.com": "https://hooks.example.com", "hooks.example.com:8443/in": "https://hooks.example.com:8443/in", "203.0.113.7:8080": "https://203.0.113.7:8080",
		"": "", ":8080": "", "two words": "", "ftp://x": "", "http://": "", "http://u:p@x": "", "http://x?a=1": "", "http://x#y": "",
	} {
		got, err := client.CleanURL(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q becomes %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestTokensSayWhatTheyAre(t *testing.T) {
	for token, want := range map[string]client.Fixed{
		"a.b.c": "Bearer a.b.c", "family.secret": "Refresh family.secret", "Refresh a.b.c": "Refresh a.b.c", "opaque": "Refresh opaque",
	} {
		if got := client.Token(token); got != want {
			t.Errorf("%s becomes %q, want %q", token, got, want)
		}
	}
}

// TestAwaitFollowsTheServer: its redirects are followed at the address where we
// have reached it, and its word on when to ask again counts.
func TestAwaitFollowsTheServer(t *testing.T) {
	var asked []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials were sent for what needs none")
		}
		switch len(asked) {
		case 1:
			w.Header().Set("Location", "https://public.invalid/api/v3/result?svc-result-correlationid=x&pollingRedirectEnabled=true&hop=1")
			w.WriteHeader(http.StatusFound)
		case 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = io.WriteString(w, `{"statusCode":200,"status":"ok","value":{"n":1e2},"correlationId":"x"}`)
		}
	})
	result, err := c.Await(t.Context(), "x", func(string) {})
	if err != nil || result.Status != sluice.StatusOK || string(result.Value) != `{"n":1e2}` {
		t.Errorf("got %+v, %v", result, err)
	}
	if len(asked) != 4 || asked[0] != "pollingRedirectEnabled=true&svc-result-correlationid=x" || !strings.HasSuffix(asked[3], "hop=1") {
		t.Errorf("asked %q", asked)
	}
}

func TestAwaitGivesUp(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"a result that is gone": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"a redirect elsewhere": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		},
		"no result": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	} {
		if _, err := answering(t, handle).Await(t.Context(), "x", func(string) {}); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
		cancel()
	})
	if _, err := c.Await(ctx, "x", func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// TestAnotherServer: what is no sluice is not logged in at.
func TestAnotherServer(t *testing.T) {
	other := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := other.Login(t.Context(), nil); sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("got %v", err)
	}
}

// TestUsersOfAnotherProvider: a user without a password here is told what to
// do, and is not asked for one before.
func TestUsersOfAnotherProvider(t *testing.T) {
	for issuer, want := range map[string]string{
		`"openid":{"openIdConnectUrl":"https://idp.invalid/realm/.well-known/openid-configuration"}`: "those of https://idp.invalid/realm: sign in there with sluice login",
		``: "set SLUICE_USERNAME and SLUICE_PASSWORD",
	} {
		c := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/openapi.json" {
				t.Errorf("%s was asked", r.URL.Path)
			}
			_, _ = io.WriteString(w, `{"paths":{},"components":{"securitySchemes":{`+issuer+`}}}`)
		})
		if _, err := c.Login(t.Context(), nil); !strings.Contains(sluice.AsError(err).Message, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestParametersTravelUnseen: not in the URL, unless there is a body.
func TestParametersTravelUnseen(t *testing.T) {
	var query, body string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		query, body = r.URL.RawQuery, string(content)
		_, _ = io.WriteString(w, "{}")
	})
	params := url.Values{"value": {"s&cret"}}
	if _, err := c.Command(t.Context(), "secret.put", params, nil); err != nil || query != "" || body != "value=s%26cret" {
		t.Errorf("query %q, body %q, %v", query, body, err)
	}
	if _, err := c.Command(t.Context(), "x", params, &client.Body{Content: []byte("b")}); err != nil || query != "value=s%26cret" || body != "b" {
		t.Errorf("query %q, body %q, %v", query, body, err)
	}
}
