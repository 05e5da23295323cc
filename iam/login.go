package iam

import (
	"context"
	"time"

	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/throttle"
)

const (
	maxPassword = 1 << 10
	maxUsername = 256 // of what callers send; the throttles remember it
	hashWait    = 2 * time.Second
)

// Login implements sluice.Directory.
func (d *Directory) Login(ctx context.Context, username, password, address string) (sluice.User, error) {
	password = norm.NFC.String(password)
	account, err := d.Accounts.Get(ctx, username)
	if err != nil {
		return sluice.User{}, err
	}
	stored := ""
	if account != nil && !account.Disabled {
		stored = account.Password
	}
	// The throttle comes first: else a password that is remembered could be
	// guessed at any speed.
	return d.Throttled(ctx, username, address, func() (sluice.User, error) {
		if d.recent.has(username, password, stored) {
			return d.userWith(ctx, username, account.Roles)
		}
		right, err := d.verify(stored, password, func() error { return d.mayTry(username, address) })
		if err != nil {
			return sluice.User{}, err
		}
		if !right {
			return sluice.User{}, wrongCredentials()
		}
		d.recent.add(username, password, stored)
		return d.userWith(ctx, username, account.Roles)
	})
}

// verify checks a password against what is stored. Where nothing is, it costs
// the same and fails. Before that, and after the wait for a free core, it asks
// whether it may still: else a flood of guesses that waits together would be
// checked to the last.
func (d *Directory) verify(stored, password string, mayTry func() error) (bool, error) {
	if len(password) > maxPassword {
		return false, nil
	}
	select {
	case d.hashing <- struct{}{}:
		defer func() { <-d.hashing }()
	case <-time.After(hashWait):
		e := sluice.Errorf(sluice.Unavailable, "login-busy", "Too many passwords are being checked. Try again soon.")
		e.RetryAfter = hashWait
		return false, e
	}
	if err := mayTry(); err != nil {
		return false, err
	}
	if stored == "" {
		verify(d.dummy(), password)
		return false, nil
	}
	return verify(stored, password), nil
}

// Throttled runs a check of credentials, unless too many went wrong before for
// this account from this address, or from this address at all.
func (d *Directory) Throttled(ctx context.Context, username, address string, check func() (sluice.User, error)) (sluice.User, error) {
	if err := d.mayTry(username, address); err != nil {
		return sluice.User{}, err
	}
	user, err := check()
	if err == nil {
		d.pairs.Succeed(pairOf(username, address))
		return user, nil
	}
	if sluice.AsError(err).Kind == sluice.Unauthenticated {
		d.pairs.Fail(pairOf(username, address))
		d.addresses.Fail(throttle.Network(address))
		d.Note(ctx, sluice.AuditEntry{Username: d.knownName(ctx, username), Address: address, Command: "login", Outcome: sluice.AuditRefused, Code: sluice.AsError(err).Code})
	}
	return sluice.User{}, err
}

// mayTry refuses credentials if too many went wrong before.
func (d *Directory) mayTry(username, address string) error {
	wait := max(d.pairs.Wait(pairOf(username, address)), d.addresses.Wait(throttle.Network(address)))
	if wait == 0 {
		return nil
	}
	e := sluice.Errorf(sluice.Throttled, "too-many-logins", "Too many wrong credentials came from this address.")
	e.RetryAfter = wait
	return e
}

func pairOf(username, address string) string {
	return username + "\x00" + throttle.Network(address)
}

// knownName gives the name of a user there is. Others are left out of the audit
// log: people type their password into the wrong field.
func (d *Directory) knownName(ctx context.Context, username string) string {
	if account, err := d.Accounts.Get(ctx, username); err == nil && account != nil {
		return account.Username
	}
	return ""
}

func wrongCredentials() error {
	return sluice.Errorf(sluice.Unauthenticated, "authorization-invalid", "The credentials are not valid.")
}
