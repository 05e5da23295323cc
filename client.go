package sluice

import "time"

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
