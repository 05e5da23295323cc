package api

import (
	"net/http"
	"net/netip"
	"testing"
)

// TestClientAddress: what proxies have written counts, what a client writes does
// not.
func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/64")}
	for name, test := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                     {"192.0.2.1:1", nil, "192.0.2.1"},
		"a client that makes it up":    {"192.0.2.1:1", []string{"198.51.100.7"}, "192.0.2.1"},
		"a proxy":                      {"10.0.0.1:1", []string{"192.0.2.1"}, "192.0.2.1"},
		"a proxy that says nothing":    {"10.0.0.1:1", nil, "10.0.0.1"},
		"made up, and a proxy behind":  {"10.0.0.1:1", []string{"198.51.100.7, 192.0.2.1"}, "192.0.2.1"},
		"the same in two headers":      {"10.0.0.1:1", []string{"198.51.100.7", "192.0.2.1"}, "192.0.2.1"},
		"made up as if by a proxy":     {"10.0.0.1:1", []string{"198.51.100.7, 10.0.0.9, 192.0.2.1"}, "192.0.2.1"},
		"two proxies":                  {"10.0.0.1:1", []string{"192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		"what is no address":           {"10.0.0.1:1", []string{"198.51.100.7, somewhere"}, "10.0.0.1"},
		"an address with a port":       {"10.0.0.1:1", []string{"192.0.2.1:4711"}, "192.0.2.1"},
		"IPv6":                         {"[fd00::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		"IPv6 with a port":             {"[fd00::1]:1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		"IPv4 in IPv6, from a network": {"[::ffff:10.0.0.1]:1", []string{"192.0.2.1"}, "192.0.2.1"},
	} {
		r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := clientAddress(r, trusted); got != test.want {
			t.Errorf("%s: the address is %s, want %s", name, got, test.want)
		}
	}
}
