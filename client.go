package sluice

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Client is a program that asks the issuer for tokens.
type Client struct {
	ID     string   `json:"clientId"`
	Secret string   `json:"secret"` // SHA-256 of the secret; empty: a public client, which has none
	Roles  []string `json:"roles"`  // of the tokens it gets for itself
	Grants []string `json:"grants"` // grant types it may use

	// RedirectURIs are where browsers may take authorization codes for it.
	RedirectURIs []string `json:"redirectUris,omitempty"`

	// TokensSince is when the client's own tokens began to be valid: earlier
	// ones, of a former secret or of a former client with the same id, are not.
	TokensSince time.Time `json:"tokensSince"`

	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Used    time.Time `json:"used,omitzero"` // last, to the minute
}

// DefaultGrants are the grants of a client that is made without any.
func DefaultGrants(public bool) []string {
	if public {
		return []string{"authorization_code", "refresh_token"}
	}
	return []string{"client_credentials"}
}

// Identity names the client, and no other that had or will have its id.
func (c *Client) Identity() string { return madeAt(c.Created) }

// Generation is in the tokens that the client gets for itself. The time of issue is
// not enough: within one second both a former secret and its successor may be used.
func (c *Client) Generation() string { return madeAt(c.TokensSince) }

// Honours reports whether a token that the client got for itself is still valid. Old
// tokens without a generation are judged by their time of issue. A nil client honours
// none.
func (c *Client) Honours(generation string, issued time.Time) bool {
	switch {
	case c == nil:
		return false
	case generation == "":
		return issued.After(c.TokensSince)
	}
	return generation == c.Generation()
}

// An OAuthClientView is a client as commands show it.
type OAuthClientView struct {
	ClientID     string    `json:"clientId" doc:"Its id."`
	Roles        []string  `json:"roles" doc:"Roles of the tokens that it gets for itself."`
	Grants       []string  `json:"grants" doc:"Grants that it may use."`
	RedirectURIs []string  `json:"redirectUris,omitempty" doc:"Where browsers may take authorization codes for it."`
	Public       bool      `json:"public,omitempty" doc:"It has no secret."`
	Secret       string    `json:"secret,omitempty" doc:"Its secret, only when it was just made."`
	Created      time.Time `json:"created" doc:"When it was created."`
	Updated      time.Time `json:"updated" doc:"When it was last changed."`
	LastUsed     time.Time `json:"lastUsed,omitzero" doc:"When a call last came with a token of it, to the minute."`
}

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
