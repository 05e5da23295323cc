package sluice

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An Account is what the service stores of a user.
type Account struct {
	ID       string    `json:"id,omitempty"` // a new account of the same name has another one, see Identity
	Username string    `json:"username"`
	Password string    `json:"password"` // argon2id hash; empty: can't log in
	Roles    []string  `json:"roles"`
	Disabled bool      `json:"disabled"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Used     time.Time `json:"used,omitzero"` // last, to the minute
}

// Identity names the account, and no other that had or will have its username.
func (a *Account) Identity() string {
	if a.ID == "" { // it is from before there were ids
		return madeAt(a.Created)
	}
	return a.ID
}

// madeAt makes a name from the time when something was made.
func madeAt(created time.Time) string { return created.UTC().Format(time.RFC3339Nano) }

// A Role is a named set of permissions: everywhere, or on what its scope covers.
type Role struct {
	Name        string   `json:"role"`
	Permissions []string `json:"permissions"`
	Scope       []string `json:"scope,omitempty" doc:"Prefixes of names, see Grant; none: everything."`
}

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

// A Session is a login that refresh tokens prolong. Each use of a refresh token
// replaces it; all refresh tokens of one login are a family, and this record
// stands for them.
type Session struct {
	ID       string    `json:"id"`
	Username string    `json:"username"`
	ClientID string    `json:"clientId"`
	Scope    string    `json:"scope"`
	Hash     string    `json:"hash"` // SHA-256 of the one refresh token that is valid
	MACKey   []byte    `json:"mark"` // key of the HMAC that recognises all refresh tokens of the family, and makes none
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`

	SignedIn time.Time          `json:"signedIn,omitzero"` // when the person gave their password, if that was earlier
	Code     *AuthorizationCode `json:"code,omitempty"`    // what it began with, if a person allowed it in a browser
}

// An AuthorizationCode says what an authorization code is bound to. The code leads to a
// session, which has no tokens until the code is used.
type AuthorizationCode struct {
	Redirect  string `json:"redirect"`
	Challenge string `json:"challenge"`
	Nonce     string `json:"nonce,omitempty"`
	Used      bool   `json:"used,omitempty"`
}

// An Authorization is what a program asks a person for in their browser: to act
// for them (RFC 6749, 4.1).
type Authorization struct {
	ClientID  string
	Redirect  string        // where the browser takes the answer
	State     string        // is repeated in the answer
	Scope     string        // that is granted
	Nonce     string        // is repeated in the ID token
	Challenge string        // hash of the verifier that the program keeps (RFC 7636, S256)
	Silent    bool          // the person must not be asked anything
	SignIn    bool          // they must sign in, even if they are signed in
	MaxAge    time.Duration // how long ago they may have signed in; negative: any time
	Lasts     time.Duration // how long the program's login would last at most

	// Refused is where the browser tells the program that its request is refused;
	// empty if it is not.
	Refused string
}

// A SigningKey signs access tokens.
type SigningKey struct {
	ID      string    `json:"id"`
	Private []byte    `json:"private"` // PKCS #8
	Created time.Time `json:"created"`
}

// A CertificateRecord is what the service stores to speak HTTPS under its own names: certificates
// with their keys, its account at the ACME server, and answers to that server's challenges.
type CertificateRecord struct {
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

// A Directory answers an issuer of tokens about users and clients.
type Directory interface {
	// Login returns the user with that password: Unauthenticated if there is
	// none, Throttled after too many wrong ones from the address, Unavailable
	// if too many passwords are being checked.
	Login(ctx context.Context, username, password, address string) (User, error)

	// User returns a user as stored now: Unauthenticated if there is none or it
	// is disabled.
	User(ctx context.Context, username string) (User, error)

	// Client returns a client, nil if there is none.
	Client(ctx context.Context, id string) (*Client, error)
}

// An Identity is what a token stands for.
type Identity struct {
	Username   string    // the user, or the client if the token is its own
	ClientID   string    // the client the token was issued to
	Client     bool      // the client itself is the user
	Generation string    // of the client then
	Issued     time.Time // when it was issued
	Roles      []string  // from an external provider; with the embedded issuer they are looked up with the user
	Scope      string    // scopes, space-separated
	Expires    time.Time // when it stops being valid
}

// Tokens finds whom tokens stand for. Errors are Unauthenticated, or
// Unavailable if the issuer can't be reached.
type Tokens interface {
	// Access checks an access token.
	Access(ctx context.Context, token string) (Identity, error)

	// Refresh checks a refresh token. An issuer that rotates it at each use
	// also returns the one to use next; otherwise renewed is empty.
	Refresh(ctx context.Context, token string) (id Identity, renewed string, err error)
}

// A PortalSession is a person who is signed in to the portal, in one browser.
type PortalSession struct {
	ID       string    `json:"id"` // SHA-256 of what the browser's cookie holds
	Username string    `json:"username"`
	External bool      `json:"outside,omitempty"` // signed in at an external provider,
	Issuer   string    `json:"issuer,omitempty"`  // this one
	Roles    []string  `json:"roles,omitempty"`   // as that provider said at the sign-in
	Created  time.Time `json:"created"`
	Seen     time.Time `json:"seen"`           // when it was last used, roughly
	Link     bool      `json:"link,omitempty"` // nobody has signed in yet: a link with what ID is the hash of begins a session, once
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
