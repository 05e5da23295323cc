package sluice

import (
	"context"
	"time"
)

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

// A Login is a request for tokens and its outcome. It holds no secrets. Its names are
// unchecked unless the outcome is Granted.
type Login struct {
	Grant    string // empty if there is none of that name
	ClientID string
	Username string // empty if the client asks for itself
	Address  string // of the client
	Outcome  string // Granted, or the error code of the answer
}

// Granted is the outcome of a login that got its tokens.
const Granted = "granted"

// A Logout is the end of a login by a logout or a revocation, or because one of
// its refresh tokens was used twice.
type Logout struct {
	Username string
	ClientID string
	Address  string // where the end came from
	Reused   bool   // a refresh token was used twice
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
