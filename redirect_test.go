package sluice

import "testing"

// TestMayRedirect: a code goes where its client said, to the letter; on the
// person's own machine to any port.
func TestMayRedirect(t *testing.T) {
	machine := &Client{}
	server := &Client{Secret: "hash", RedirectURIs: []string{"https://app.example.org/cb", "http://127.0.0.1/cb", "http://localhost:8000/cb?x=1"}}
	page := &Client{RedirectURIs: []string{"https://app.example.org/cb"}}
	for _, test := range []struct {
		client *Client
		uri    string
		want   bool
	}{
		{machine, "http://127.0.0.1:43210/callback", true},
		{machine, "http://127.0.0.1", true},
		{machine, "http://[::1]:43210/", true},
		{machine, "http://localhost:43210/a/b?c=d", true},
		{machine, "", false},
		{machine, "/callback", false},
		{machine, "http://", false},
		{machine, "https://app.example.org/cb", false},
		{machine, "http://127.0.0.2:43210/", false},
		{machine, "http://localhost.example.org/", false},
		{machine, "http://localhost@evil.example.org/", false},
		{machine, "http://evil.example.org#@localhost/", false},
		{machine, "http://localhost:80@evil.example.org/", false},
		{machine, `http://localhost:43210\@evil.example.org/`, false},
		{machine, "http://localhost:43210/#fragment", false},
		{machine, "http://localhost:port/", false},
		{machine, "javascript://localhost/%0aalert(1)", false},
		{machine, "ftp://127.0.0.1/", false},
		{server, "https://app.example.org/cb", true},
		{server, "https://app.example.org/cb/", false},
		{server, "https://app.example.org/cb?x=1", false},
		{server, "https://app.example.org:8443/cb", false},
		{server, "http://app.example.org/cb", false},
		{server, "http://127.0.0.1/cb", true},
		{server, "http://127.0.0.1:43210/cb", true},
		{server, "http://127.0.0.1:43210/other", false},
		{server, "http://[::1]:43210/cb", false},
		{server, "http://localhost:9000/cb?x=1", true},
		{server, "http://localhost:9000/cb?x=2", false},
		{page, "https://app.example.org/cb", true},
		{page, "http://127.0.0.1:43210/cb", false},
	} {
		if got := test.client.MayRedirect(test.uri); got != test.want {
			t.Errorf("%+v to %q: %v, want %v", test.client, test.uri, got, test.want)
		}
	}
	for uri, want := range map[string]bool{
		"https://app.example.org/cb":      true,
		"https://app.example.org:8443":    true,
		"http://localhost/cb":             true,
		"http://app.example.org/cb":       false,
		"https://app.example.org/cb#x":    false,
		"https://user@app.example.org/cb": false,
		"https://app.example.org;evil/cb": false,
		"com.example.app:/cb":             false,
		"https:///cb":                     false,
		"*":                               false,
		"https://*.example.org/cb":        false,
	} {
		if got := ValidRedirect(uri); got != want {
			t.Errorf("registering %q: %v, want %v", uri, got, want)
		}
	}
}
