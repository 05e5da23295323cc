package iam

import (
	"context"
	"time"

	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/limit"
)

// Login implements sluice.Directory.
func (d *Directory) Login(ctx context.Context, username, password, address string) (none sluice.User, _ error) {
	starting := d.starting()
	user, err := d.login(ctx, username, norm.NFC.String(password), address)
	if err = unlessStarting(starting, err); err != nil {
		d.noteWrong(ctx, username, address, err)
		return none, err
	}
	d.UserUsed(username)
	return user, nil
}

// starting reports whether there may be no user yet.
func (d *Directory) starting() bool { return d.Started != nil && !d.Started() }

// unlessStarting replaces the refusal of a caller by a passing error, if the first user
// did not exist yet when the credentials came: they may be right.
func unlessStarting(starting bool, err error) error {
	if !starting || !sluice.Unauthenticated.Is(err) {
		return err
	}
	return sluice.CodeStarting.Errorf("The server is starting.").After(time.Second)
}

func (d *Directory) login(ctx context.Context, username, password, address string) (user sluice.User, _ error) {
	account, err := d.Accounts.Get(ctx, username)
	if err != nil {
		return user, err
	}
	stored := ""
	if account != nil && !account.Disabled {
		stored = account.Password
	}
	// The throttle comes first. Otherwise a remembered password could be guessed at
	// any speed.
	if err := d.mayTry(username, address); err != nil {
		return user, err
	}
	remembered := d.recent.has(username, password, stored)
	if !remembered {
		release, err := d.hashing.take(ctx, d.guessOf(username, address))
		if err != nil {
			return user, err
		}
		defer release()
	}
	// The throttle is checked again after the wait for a core, and counts before the
	// core is free. Otherwise a flood of guesses that wait together would all be checked.
	return d.counted(username, address, func() (user sluice.User, _ error) {
		if !remembered {
			if !d.isRight(stored, password) {
				return user, sluice.WrongCredentials()
			}
			d.recent.add(username, password, stored)
		}
		return d.userWith(ctx, username, account.Identity(), account.Roles)
	})
}

// isRight checks a password against the stored hash. Without one, it takes as long and
// fails.
func (d *Directory) isRight(stored, password string) bool {
	if len(password) > limit.MaxPassword {
		return false
	}
	if stored == "" {
		verify(d.dummy(), password)
		return false
	}
	return verify(stored, password)
}

// noteWrong enters wrong credentials in the audit log.
func (d *Directory) noteWrong(ctx context.Context, username, address string, err error) {
	if !sluice.Unauthenticated.Is(err) {
		return
	}
	d.noteAccess(ctx, "login", "", d.knownName(ctx, username), address, sluice.AsError(err).Code)
}

// knownName returns the name of a user there is. Others are left out of the audit
// log: people type their password into the wrong field.
func (d *Directory) knownName(ctx context.Context, username string) string {
	if account, err := d.Accounts.Get(ctx, username); err == nil && account != nil {
		return account.Username
	}
	return ""
}
