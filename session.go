package sluice

import "time"

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
