package iam

import (
	"context"
	"crypto/rand"
	"strings"

	"sluice"
)

type userPutParams struct {
	Username string   `json:"username" required:"true" audit:"yes" doc:"Name of the user: 1 to 128 letters, digits, dots, _, @, + and -, beginning with a letter or digit."`
	Password *string  `json:"password" doc:"New password: 8 characters or more, at most 1024 bytes, and not one of the most common ones. Without one, a new user can't log in. Your own is set with iam.password.set."`
	Roles    []string `json:"roles" audit:"yes" doc:"Roles the user has from now on."`
	Disabled *bool    `json:"disabled" doc:"Whether the user is kept from logging in and from using tokens."`
}

func (d *Directory) putUser(ctx context.Context, p userPutParams) (none sluice.UserView, _ error) {
	if err := d.checkUser(ctx, p); err != nil {
		return none, err
	}
	hash, err := p.hash(ctx)
	if err != nil {
		return none, err
	}
	account, err := d.Accounts.Change(ctx, p.Username,
		func(before *sluice.Account, all map[string]*sluice.Account) (*sluice.Account, error) {
			after := &sluice.Account{ID: rand.Text(), Username: p.Username, Roles: []string{}, Created: now()}
			if before == nil {
				if err := standsOut(p.Username, all); err != nil {
					return nil, err
				}
			} else {
				if err := d.mayGrant(ctx, before.Roles); err != nil {
					return nil, err
				}
				*after = *before
			}
			p.apply(after, hash)
			return after, keepsAdmin(before, after, all)
		})
	if err != nil {
		return none, err
	}
	if p.Password != nil || account.Disabled {
		if err := d.EndSessions(ctx, p.Username, ""); err != nil {
			return none, err
		}
	}
	view := showUser(account)
	if account.Password == "" {
		view.Warnings = []string{"The user has no password and can't log in; iam.password.set gives one, or " +
			"sluice user password."}
	}
	return view, nil
}

// hash returns the hash of the new password, if one is given. It refuses to set the
// caller's own, which needs the current one: otherwise whoever finds an open session
// could take over the account.
func (p userPutParams) hash(ctx context.Context) (string, error) {
	if p.Password == nil {
		return "", nil
	}
	if p.Username == sluice.UserFrom(ctx).Name {
		return "", sluice.InvalidParameter("password",
			"Your own password is set with iam.password.set, which wants the current one.")
	}
	return newPassword(*p.Password, p.Username)
}

// checkUser refuses invalid users, and those that the caller may not make.
func (d *Directory) checkUser(ctx context.Context, p userPutParams) error {
	if err := checkUsername(p.Username); err != nil {
		return err
	}
	if err := d.checkRoles(ctx, p.Roles); err != nil {
		return err
	}
	return d.mayGrant(ctx, p.Roles)
}

// standsOut refuses the name of a new user that people could mistake for another's.
func standsOut(username string, all map[string]*sluice.Account) error {
	for _, other := range all {
		if strings.EqualFold(other.Username, username) {
			return sluice.CodeUsernameTaken.Errorf(
				"There is a user %s already, whose name differs only in upper and lower case; choose another name.",
				other.Username)
		}
	}
	return nil
}

func (p userPutParams) apply(a *sluice.Account, hash string) {
	a.Updated = now()
	if p.Password != nil {
		a.Password = hash
	}
	if p.Roles != nil {
		a.Roles = distinct(p.Roles)
	}
	if p.Disabled != nil {
		a.Disabled = *p.Disabled
	}
}
