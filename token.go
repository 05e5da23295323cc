package sluice

import "time"

// A Token is a key to a webhook.
type Token struct {
	Token       string    `json:"token"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires,omitzero"`
	Used        time.Time `json:"used,omitzero"`    // last, to the minute
	Closed      bool      `json:"closed,omitempty"` // of the uuid alone: others are deleted
}

// IsOpen reports whether calls may come with the token.
func (t *Token) IsOpen(now time.Time) bool {
	return !t.Closed && (t.Expires.IsZero() || now.Before(t.Expires))
}

// MaxTokens is how many open tokens a webhook may have.
const MaxTokens = 10

// TokenLength is how many characters a token has.
const TokenLength = 36

// IsToken reports whether a text can be the token of a webhook: a UUID, in upper or lower
// case and in no other spelling.
func IsToken(text string) bool {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(text) != TokenLength {
		return false
	}
	for i, c := range []byte(text) {
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if (form[i] == '-') != (c == '-') || c != '-' && !hex {
			return false
		}
	}
	return true
}

// Last6 returns the end of a token, which may be shown to anyone.
func Last6(uuid string) string {
	if len(uuid) <= 6 {
		return uuid
	}
	return uuid[len(uuid)-6:]
}

// A TokenView is a token of a webhook as webhook.get shows it.
type TokenView struct {
	Last6       string     `json:"last6" doc:"Its last 6 characters."`
	Token       string     `json:"token,omitempty" doc:"All of it, for users who may see tokens."`
	Description string     `json:"description,omitempty" doc:"What people wrote about it."`
	Created     time.Time  `json:"created" doc:"When it was made."`
	Expires     *time.Time `json:"expires,omitempty" doc:"When it is closed by itself."`
	LastUsed    *time.Time `json:"lastUsed,omitempty" doc:"When a call last came with it, to the minute; noted once a webhook has several."`
	Open        bool       `json:"open" doc:"Calls may come with it."`
}
