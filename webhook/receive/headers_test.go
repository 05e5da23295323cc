package receive

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sluice"
)

// FuzzHeaders: of the headers a request may have, events get all but the secret
// ones, with names in lower case, each once and in order.
func FuzzHeaders(f *testing.F) {
	f.Add("Content-Type: text/plain\r\nToken: secret\r\nX-A: 1\r\nx-a: 2", "x-api-key")
	f.Add("AUTHORIZATION: secret\r\ncookie: secret\r\nproxy-AUTHORIZATION: secret\r\nUUID: secret", "")
	f.Add("X-Api-Key: secret\r\nX-API-KEY: secret", "x-api-key")
	f.Add("A:\r\n \t folded\r\nHost: other", "a")
	f.Add("X_Under: 1\r\nX!#$%&'*+.^`|~: 2\r\nX: \xff\xfe", "x")
	f.Fuzz(func(t *testing.T, lines, redact string) {
		head := "GET / HTTP/1.1\r\nHost: sluice\r\n" + lines + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil || !allTokens(r.Header) {
			return // a server doesn't let it through
		}
		got := appendHeaders(nil, r, "", []string{strings.ToLower(redact)})
		names := make([]string, len(got))
		for i, h := range got {
			names[i] = h.Name
			if h.Name != strings.ToLower(h.Name) {
				t.Fatalf("the name %q is not in lower case", h.Name)
			}
			switch h.Name {
			case "token", "uuid", "authorization", "cookie", "proxy-authorization", strings.ToLower(redact):
				if h.Name != "host" {
					t.Fatalf("the secret header %s was passed on", h.Name)
				}
			}
			if want := withoutToken(strings.Join(r.Header.Values(h.Name), ", "), ""); h.Name != "host" && h.Value != want {
				t.Fatalf("the header %s is %q, want %q", h.Name, h.Value, want)
			}
		}
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Fatalf("the names are not in order, each once: %q", names)
		}
	})
}

// allTokens reports whether the names of headers are tokens (RFC 9110, 5.6.2).
func allTokens(header http.Header) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for name := range header {
		if strings.Trim(name, letters+"0123456789!#$%&'*+-.^_`|~") != "" {
			return false
		}
	}
	return true
}

// TestURLsInHeadersHaveNoToken: the URL that was called, as others pass it on,
// is not a way for the token into events; other values stay as they are.
func TestURLsInHeadersHaveNoToken(t *testing.T) {
	const token, other = "560d359a-35cf-4bb6-af9c-9d879fa0675f", "1b1b1b1b-35cf-4bb6-af9c-9d879fa0675f"
	for value, want := range map[string]string{
		"http://h/api/v3/command/webhook.receive?token=" + token:                            "http://h/api/v3/command/webhook.receive?token=…a0675f",
		"/api/v3/command/webhook.receive?a=1&uuid=" + strings.ToUpper(token) + "&b=2":       "/api/v3/command/webhook.receive?a=1&uuid=…A0675F&b=2",
		"/login?to=%2Fapi%2Fv3%2Fcommand%2Fwebhook.receive%3Ftoken%3D" + token + "%26x%3D1": "/login?to=%2Fapi%2Fv3%2Fcommand%2Fwebhook.receive%3Ftoken%3D…a0675f%26x%3D1",
		"https://hooks.example/in?token=" + token:                                           "https://hooks.example/in?token=…a0675f",
		"https://other.example/?token=" + other:                                             "https://other.example/?token=" + other,
		"webhook.receive":                                                                   "webhook.receive",
	} {
		r, err := http.NewRequest(http.MethodGet, "http://sluice/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Original-Uri", value)
		got := appendHeaders(nil, r, token, nil)
		if len(got) != 2 || got[1].Value != want {
			t.Errorf("%s becomes %q, want %s", value, got, want)
		}
	}
}

// TestHeadersAreAppended: the space of an earlier call can be used again.
func TestHeadersAreAppended(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "http://sluice/", nil)
	if err != nil {
		t.Fatal(err)
	}
	space := make(sluice.Headers, 0, 10)
	got := appendHeaders(space, r, "", nil)
	if len(got) != 1 || got[0] != (sluice.Header{Name: "host", Value: "sluice"}) {
		t.Errorf("the headers are %q", got)
	}
}
