package iam

import (
	"cmp"
	"context"

	"sluice"
)

type passwordSetParams struct {
	Username string  `json:"username" audit:"yes" doc:"Whose password to set; default: your own."`
	Password string  `json:"password" required:"true" doc:"The new password: 8 characters or more, at most 1024 bytes, and not one of the most common ones."`
	Current  *string `json:"current" doc:"Your current password, needed to change your own."`
}

func (d *Directory) setPassword(ctx context.Context, p passwordSetParams) (view sluice.UserView, _ error) {
	caller := sluice.UserFrom(ctx)
	p.Username = cmp.Or(p.Username, caller.Name)
	if err := d.maySetPassword(ctx, caller, p); err != nil {
		return view, err
	}
	hash, err := newPassword(p.Password, p.Username)
	if err != nil {
		return view, err
	}
	account, err := sluice.Edit(ctx, d.Accounts, p.Username, noUser(p.Username), func(a *sluice.Account) error {
		a.Password, a.Updated = hash, now()
		return d.mayGrant(ctx, a.Roles)
	})
	if err != nil {
		return view, err
	}
	if err := d.EndSessions(ctx, p.Username, ""); err != nil {
		return view, err
	}
	return showUser(account), nil
}

// maySetPassword checks the current password of users who set their own,
// otherwise the permission to set others'.
func (d *Directory) maySetPassword(ctx context.Context, caller sluice.User, p passwordSetParams) error {
	if p.Username != caller.Name {
		if !caller.May("iam.user.put") {
			return sluice.CodeForbidden.Errorf(
				"To set another user's password you need the permission iam.user.put.")
		}
		return checkUsername(p.Username)
	}
	if p.Current == nil {
		return sluice.CodeParameterMissing.Errorf(
			"The parameter current is required to set your own password.").About("current")
	}
	if _, err := d.Login(ctx, caller.Name, *p.Current, caller.Address); err != nil {
		if !sluice.Unauthenticated.Is(err) {
			return err
		}
		return sluice.CodePasswordWrong.Errorf("The current password is not right.").About("current")
	}
	return nil
}
