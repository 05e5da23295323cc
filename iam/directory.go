// Package iam finds the user behind a request and their permissions: users,
// roles and clients, the Authorization header, passwords, impersonation, and
// the commands iam.* and audit.get.
//
// That a user may run a command is checked in one place, by package command.
// Tokens are issued and verified by package oidc, which asks the Directory here
// about users and clients; package jetstream stores all of it.
package iam

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/limit"
)

// DirectoryOptions are what a directory is made of.
type DirectoryOptions struct {
	Accounts sluice.Records[sluice.Account]
	Roles    sluice.FollowedRecords[sluice.Role]
	Clients  sluice.Records[sluice.Client]
	Audit    sluice.Audit
	Copy     func(sluice.AuditEntry) // gets every entry of the audit log; nil: nobody wants them
	Log      *slog.Logger
	External bool // users and clients are those of an external provider

	// UserUsed and ClientUsed are called with the user of an authenticated call, and
	// with the client of its token. With an external provider they are not called.
	UserUsed, ClientUsed func(name string)

	// Started reports whether the first user exists. Until then nobody can have the
	// right credentials. nil means that it does.
	Started func() bool

	// CommandNames lists the commands that a permission can be about.
	CommandNames func() []string

	// GlobalCommands lists those of them that no scope can be about.
	GlobalCommands func() []string

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

	dummy     func() string              // hash that unknown users are checked against
	hashing   *cores                     // that hash passwords
	pairs     *limit.Failures            // wrong passwords by account and address
	addresses *limit.Failures            // accounts that an address gave wrong passwords for
	guesses   *limit.Failures            // wrong passwords by network: the fewer, the sooner its next one is checked
	proven    *limit.Cache[string, bool] // accounts that were logged in to from an address: it does not slow them down
	refusals  *limit.Tries               // entries of the audit log about what nobody had to prove, by address
	entries   *limit.Tries               // entries of the audit log about what changed nothing, by user
	tally     *tally                     // those beyond
	recent    *recent
	rights    atomic.Pointer[limit.Cache[string, rights]] // by the names of roles
}

// NewDirectory returns a directory over its stores.
func NewDirectory(o DirectoryOptions) *Directory {
	d := &Directory{
		DirectoryOptions: o,
		dummy:            sync.OnceValue(func() string { return hashPassword(rand.Text()) }),
		hashing:          &cores{free: max(1, runtime.NumCPU()/2)},
		pairs:            limit.NewFailures(freeGuesses, time.Second, 15*time.Minute),
		addresses:        limit.NewFailures(freeAccounts, time.Second, 5*time.Minute),
		guesses:          limit.NewFailures(math.MaxInt, 0, 15*time.Minute),
		proven:           limit.NewCache[string, bool](maxRemembered),
		refusals:         limit.NewTries(20, 3*time.Second),
		entries:          limit.NewTries(20, 3*time.Second),
		recent:           newRecent(),
	}
	d.tally = newTally(d.record)
	d.rights.Store(limit.NewCache[string, rights](maxRights))
	if o.Roles != nil {
		o.Roles.Follow(func(_, _ *sluice.Role) { d.rights.Store(limit.NewCache[string, rights](maxRights)) })
	}
	return d
}

// User implements sluice.Directory.
func (d *Directory) User(ctx context.Context, username string) (none sluice.User, _ error) {
	if username == sluice.AnonymousName {
		return d.userWith(ctx, sluice.AnonymousName, "", []string{sluice.AnonymousRole})
	}
	if strings.HasPrefix(username, clientPrefix) {
		return none, gone()
	}
	return d.account(ctx, username)
}

// Client implements sluice.Directory.
func (d *Directory) Client(ctx context.Context, id string) (*sluice.Client, error) {
	if id == clientName {
		return &sluice.Client{ID: clientName, Grants: []string{"authorization_code", "password", "refresh_token"}}, nil
	}
	return d.Clients.Get(ctx, id)
}

// account returns the user or the client of a name.
func (d *Directory) account(ctx context.Context, name string) (none sluice.User, _ error) {
	if id, isClient := strings.CutPrefix(name, clientPrefix); isClient {
		client, err := d.Client(ctx, id)
		if err == nil && client == nil {
			err = gone()
		}
		if err != nil {
			return none, err
		}
		return d.userWith(ctx, name, client.Identity(), client.Roles)
	}
	account, err := d.Accounts.Get(ctx, name)
	if err == nil && (account == nil || account.Disabled) {
		err = gone()
	}
	if err != nil {
		return none, err
	}
	return d.userWith(ctx, account.Username, account.Identity(), account.Roles)
}

func gone() error {
	return sluice.CodeUserGone.Errorf("The user does not exist any more, or is disabled.")
}

// Identify returns the user that a token stands for, with what they may do now.
func (d *Directory) Identify(ctx context.Context, id sluice.Identity) (none sluice.User, _ error) {
	switch {
	case id.Roles != nil:
		return d.userWith(ctx, id.Username, "", id.Roles)
	case id.Client:
		client, err := d.Client(ctx, id.ClientID)
		if err != nil {
			return none, err
		}
		if !client.Honours(id.Generation, id.Issued) {
			return none,
				sluice.CodeInvalidToken.Errorf(
					"The client of this token does not exist any more, or has a new secret.")
		}
		d.ClientUsed(id.ClientID)
		return d.userWith(ctx, clientPrefix+id.ClientID, client.Identity(), client.Roles)
	}
	user, err := d.User(ctx, id.Username)
	if err != nil {
		return none, err
	}
	d.UserUsed(id.Username)
	if id.ClientID != "" {
		d.ClientUsed(id.ClientID)
	}
	return user, nil
}

// freeGuesses is how many wrong passwords an account takes from an address
// before it has to wait.
const freeGuesses = 5

// freeAccounts is how many accounts an address may guess at before it is slowed down.
// Only the first wrong password of each counts: somebody who has forgotten theirs must
// not lock out others at the same address.
const freeAccounts = 100

// Owner returns the user who stored a pipeline, with their present permissions. A later
// account of the same name does not count. With an external provider the roles at that
// time count, since only the provider knows the present ones.
func (d *Directory) Owner(ctx context.Context, p *sluice.Pipeline) (user sluice.User, _ error) {
	if d.External {
		return d.userWith(ctx, p.Owner, p.OwnerID, p.Roles)
	}
	owner, err := d.account(ctx, p.Owner)
	if err != nil && !sluice.Unauthenticated.Is(err) {
		return user, err
	}
	if err != nil || owner.ID != p.OwnerID {
		return user, sluice.CodeOwnerGone.Errorf("The account of %s, who owns this pipeline, is deleted or disabled; "+
			"let another user store the pipeline again.", p.Owner)
	}
	return owner, nil
}
