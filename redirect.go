package sluice

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxRedirect bounds the URI that an authorization code is taken to, in bytes.
const maxRedirect = 2048

// webHost is the name of a host as browsers know it, with a port if need be.
var webHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)

// ValidRedirect reports whether a client may register a URI to which browsers
// take authorization codes: one of HTTPS, or of the machine that the browser
// runs on.
func ValidRedirect(uri string) bool {
	u := redirectOf(uri)
	return u != nil && (isLoopback(u) || u.Scheme == "https" && webHost.MatchString(u.Host))
}

// MayRedirect reports whether a browser may take an authorization code for the client
// to a URI. It must be registered, to the letter. A client without a secret and without
// registered URIs runs on people's own machines, and may get codes there. On such a
// machine any port will do, since programs take a free one (RFC 8252, 7.3).
func (c *Client) MayRedirect(uri string) bool {
	u := redirectOf(uri)
	if u == nil {
		return false
	}
	if !isLoopback(u) {
		return slices.Contains(c.RedirectURIs, uri)
	}
	if c.Secret == "" && len(c.RedirectURIs) == 0 {
		return true
	}
	return slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		r := redirectOf(registered)
		if r == nil || r.Hostname() != u.Hostname() {
			return false
		}
		r.Host = u.Host
		return r.String() == u.String()
	})
}

// redirectOf parses a URI to which a code may be taken, nil if it is none.
func redirectOf(uri string) *url.URL {
	u, err := url.Parse(uri)
	if err != nil || len(uri) > maxRedirect || u.Host == "" || u.User != nil || strings.ContainsAny(uri, "#\\ ") {
		return nil
	}
	return u
}

// isLoopback reports whether a URI is of the machine that the browser runs on.
func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	return u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost")
}
