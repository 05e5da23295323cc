package iam

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/limit"
)

// DirectoryOptions are what a directory is made of.
type DirectoryOptions struct {
	Accounts sluice.Records[sluice.Account]
	Roles    sluice.Records[sluice.Role]
	Clients  sluice.Records[sluice.Client]
	Audit    sluice.Audit
	Log      *slog.Logger
	Cores    int  // that may check passwords at the same time; 0 means half of all
	External bool // users and clients are those of an external provider

	// CommandNames lists the commands that a permission can be about.
	CommandNames func() []string

	// EndSessions ends the logins of a user, or those made through a client.
	// With an external provider it is not called.
	EndSessions func(ctx context.Context, username, clientID string) error

	// RotateKey makes a new key that signs tokens. With an external provider it
	// is not called.
	RotateKey func(ctx context.Context) (id string, created time.Time, err error)
}

// A Directory knows users, roles and clients. It implements sluice.Directory.
type Directory struct {
	DirectoryOptions

	dummy     func() string   // hash that unknown users are checked against
	hashing   chan struct{}   // bounds the cores that hash passwords
	pairs     *limit.Failures // wrong passwords by account and address
	addresses *limit.Failures // wrong passwords by address
	refusals  *limit.Tries    // entries of the audit log about what nobody had to prove
	recent    *recent
}

// freeGuesses is how many wrong passwords an account takes from an address
// before it has to wait.
const freeGuesses = 5

// NewDirectory gives a directory over its stores.
func NewDirectory(o DirectoryOptions) *Directory {
	return &Directory{
		DirectoryOptions: o,
		dummy:            sync.OnceValue(func() string { return HashPassword(rand.Text()) }),
		hashing:          make(chan struct{}, cmp.Or(o.Cores, max(1, runtime.NumCPU()/2))),
		pairs:            limit.NewFailures(freeGuesses, time.Second, 15*time.Minute),
		addresses:        limit.NewFailures(100, time.Second, 15*time.Minute),
		refusals:         limit.NewTries(20, 3*time.Second),
		recent:           newRecent(),
	}
}

// User implements sluice.Directory.
func (d *Directory) User(ctx context.Context, username string) (sluice.User, error) {
	if username == sluice.AnonymousName {
		return d.userWith(ctx, sluice.AnonymousName, []string{"anonymous"})
	}
	account, err := d.Accounts.Get(ctx, username)
	if err != nil {
		return sluice.User{}, err
	}
	if account == nil || account.Disabled {
		return sluice.User{}, sluice.Errorf(sluice.Unauthenticated, "user-gone", "The user does not exist any more, or is disabled.")
	}
	return d.userWith(ctx, account.Username, account.Roles)
}

// Client implements sluice.Directory.
func (d *Directory) Client(ctx context.Context, id string) (*sluice.Client, error) {
	if id == ClientName {
		return &sluice.Client{ID: ClientName, Grants: []string{"password", "refresh_token"}}, nil
	}
	return d.Clients.Get(ctx, id)
}

// Owner gives the user who stored something, with their present permissions.
// With an external provider the roles of that time count: only the provider
// knows the present ones.
func (d *Directory) Owner(ctx context.Context, name string, roles []string) (sluice.User, error) {
	id, isClient := strings.CutPrefix(name, ClientPrefix)
	switch {
	case d.External:
		return d.userWith(ctx, name, roles)
	case !isClient:
		return d.User(ctx, name)
	}
	client, err := d.Client(ctx, id)
	if err != nil {
		return sluice.User{}, err
	}
	if client == nil {
		return sluice.User{}, sluice.Errorf(sluice.Unauthenticated, "user-gone", "The client does not exist any more.")
	}
	return d.userWith(ctx, name, client.Roles)
}

// Identify gives the user that a token stands for, with what they may do now.
func (d *Directory) Identify(ctx context.Context, id sluice.Identity) (sluice.User, error) {
	switch {
	case id.Roles != nil:
		return d.userWith(ctx, id.Username, id.Roles)
	case id.Client:
		client, err := d.Client(ctx, id.ClientID)
		if err != nil {
			return sluice.User{}, err
		}
		if !client.Honours(id.Issued) {
			return sluice.User{}, sluice.Errorf(sluice.Unauthenticated, "invalid_token", "The client of this token does not exist any more, or has a new secret.")
		}
		return d.userWith(ctx, ClientPrefix+id.ClientID, client.Roles)
	}
	return d.User(ctx, id.Username)
}
