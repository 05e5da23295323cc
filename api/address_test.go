package api

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	const proxy = "10.0.0.1:1234"
	tests := map[string]struct {
		peer   string
		header string // that the proxies write
		values []string
		want   string
	}{
		"nobody in between":                {peer: "192.0.2.1:1", want: "192.0.2.1"},
		"a client that lies":               {peer: "192.0.2.1:1", values: []string{"198.51.100.1"}, want: "192.0.2.1"},
		"a proxy":                          {peer: proxy, values: []string{"192.0.2.1"}, want: "192.0.2.1"},
		"a proxy that appends to a lie":    {peer: proxy, values: []string{"198.51.100.1, 192.0.2.1"}, want: "192.0.2.1"},
		"the lie in a header of its own":   {peer: proxy, values: []string{"198.51.100.1", "192.0.2.1"}, want: "192.0.2.1"},
		"two proxies":                      {peer: proxy, values: []string{"198.51.100.1, 192.0.2.1, 10.0.0.2"}, want: "192.0.2.1"},
		"a proxy that is the client":       {peer: proxy, values: []string{"10.0.0.7"}, want: "10.0.0.7"},
		"a proxy that says nothing":        {peer: proxy, want: "10.0.0.1"},
		"a proxy that does not know":       {peer: proxy, values: []string{"192.0.2.1, unknown"}, want: "10.0.0.1"},
		"with a port":                      {peer: proxy, values: []string{"192.0.2.1:4711"}, want: "192.0.2.1"},
		"IPv6":                             {peer: "[fd00::1]:1", values: []string{"2001:db8::1"}, want: "2001:db8::1"},
		"IPv6 with a port":                 {peer: proxy, values: []string{"[2001:db8::1]:4711"}, want: "2001:db8::1"},
		"IPv4 in IPv6":                     {peer: "[::ffff:10.0.0.1]:1", values: []string{"::ffff:192.0.2.1"}, want: "192.0.2.1"},
		"Forwarded":                        {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1;proto=https;by=10.0.0.1`}, want: "192.0.2.1"},
		"Forwarded behind other things":    {header: forwarded, peer: proxy, values: []string{`proto=https; For="192.0.2.1:80"`}, want: "192.0.2.1"},
		"Forwarded, IPv6":                  {header: forwarded, peer: proxy, values: []string{`for="[2001:db8::1]:4711"`}, want: "2001:db8::1"},
		"Forwarded by two proxies":         {header: forwarded, peer: proxy, values: []string{`for=198.51.100.1, for=192.0.2.1`, `for="10.0.0.2:8080"`}, want: "192.0.2.1"},
		"Forwarded behind an open quote":   {header: forwarded, peer: proxy, values: []string{`for="198.51.100.1, for=192.0.2.1`}, want: "192.0.2.1"},
		"Forwarded with a lie in the host": {header: forwarded, peer: proxy, values: []string{`host="a;for=198.51.100.1,for=198.51.100.2";for=192.0.2.1`}, want: "192.0.2.1"},
		"Forwarded with a lie behind":      {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1;host="a,for=198.51.100.1"`}, want: "192.0.2.1"},
		"Forwarded with an escaped quote":  {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1;host="a\",for=198.51.100.1"`}, want: "192.0.2.1"},
		"Forwarded for two at once":        {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1;for=198.51.100.1`}, want: "10.0.0.1"},
		"Forwarded by someone hidden":      {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1, for=_gazonk`}, want: "10.0.0.1"},
		"Forwarded without for":            {header: forwarded, peer: proxy, values: []string{`for=192.0.2.1, by=10.0.0.1`}, want: "10.0.0.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := &Options{TrustedProxies: trusted, ForwardedHeader: xForwardedFor}
			other := forwarded
			if test.header == forwarded {
				o.ForwardedHeader, other = forwarded, xForwardedFor
			}
			r := &http.Request{RemoteAddr: test.peer, Header: http.Header{}}
			for _, value := range test.values {
				r.Header.Add(o.ForwardedHeader, value)
			}
			r.Header.Set(other, "203.0.113.9") // which the proxies pass on as a client wrote it
			if o.identify(r); r.RemoteAddr != test.want {
				t.Errorf("got %s, want %s", r.RemoteAddr, test.want)
			}
		})
	}
}

// FuzzForwarded: whatever a client writes, what the proxy appends counts.
func FuzzForwarded(f *testing.F) {
	f.Add(`for="198.51.100.1, `)
	f.Fuzz(func(t *testing.T, written string) {
		if _, got := lastForwarded(written + `, for="192.0.2.1:80";host="a,b\"c"`); got != "192.0.2.1:80" {
			t.Errorf("behind %q the proxy's element reads %q", written, got)
		}
	})
}

// TestCertificatesOfStrangers: a certificate in a header counts only if a trusted proxy wrote it,
// and to identify a request twice changes nothing.
func TestCertificatesOfStrangers(t *testing.T) {
	o := &Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, ForwardedHeader: xForwardedFor,
		CertHeader: "X-Cert",
	}
	for peer, kept := range map[string]bool{"10.0.0.1:1": true, "192.0.2.1:1": false, "@": false, "": false, "/run/socket": false} {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Cert": {"a certificate"}, xForwardedFor: {"192.0.2.7"}}}
		for range 2 {
			if o.identify(r); (r.Header.Get("X-Cert") != "") != kept {
				t.Errorf("the certificate of a peer at %q is kept: %v, want %v", peer, !kept, kept)
			}
		}
	}
}
