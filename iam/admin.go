package iam

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"sluice"
)

// Bootstrap creates the admin if there is none, with the given password, or with one
// that it generates and returns; that is shown once and stored nowhere. Invalid if the
// given password is too weak, see CheckFirst.
func Bootstrap(
	ctx context.Context, accounts sluice.Records[sluice.Account], password string,
) (created bool, generated string, err error) {
	admin, err := accounts.Get(ctx, sluice.AdminName)
	if err != nil || admin != nil {
		return false, "", err
	}
	if password == "" {
		generated = madeUp()
		password = generated
	}
	if err := CheckFirst(ctx, accounts, password); err != nil {
		return false, "", err
	}
	mine := newAdmin(hashPassword(norm.NFC.String(password)))
	kept, err := sluice.Replace(ctx, accounts, sluice.AdminName, func(before *sluice.Account) (*sluice.Account, error) {
		return cmp.Or(before, mine), nil // another node may have been faster
	})
	if err != nil || kept != mine {
		return false, "", err
	}
	return true, generated, nil
}

func madeUp() string { return strings.ToLower(rand.Text()) }

func newAdmin(hash string) *sluice.Account {
	made := now()
	return &sluice.Account{
		ID: rand.Text(), Username: sluice.AdminName, Password: hash, Roles: []string{sluice.AdminName},
		Created: made, Updated: made,
	}
}

// ResetAdmin lets the admin in again, with the given password, or with one that it
// generates and returns. The account is enabled and gets the role of admins back.
func ResetAdmin(
	ctx context.Context, accounts sluice.Records[sluice.Account], password string,
) (generated string, err error) {
	if password == "" {
		generated = madeUp()
		password = generated
	}
	hash, err := newPassword(password, sluice.AdminName)
	if err != nil {
		return "", err
	}
	_, err = sluice.Replace(ctx, accounts, sluice.AdminName, func(before *sluice.Account) (*sluice.Account, error) {
		after := *cmp.Or(before, newAdmin(hash))
		after.Password, after.Disabled, after.Updated = hash, false, now()
		if !slices.Contains(after.Roles, sluice.AdminName) {
			after.Roles = append(slices.Clone(after.Roles), sluice.AdminName)
		}
		return &after, nil
	})
	return generated, err
}

// CheckFirst refuses a password that is too weak for the admin, unless the admin exists
// already.
func CheckFirst(ctx context.Context, accounts sluice.Records[sluice.Account], password string) error {
	weak := checkPassword(password, sluice.AdminName)
	if password == "" || weak == nil {
		return nil
	}
	admin, err := accounts.Get(ctx, sluice.AdminName)
	if err != nil || admin != nil {
		return err
	}
	e := sluice.AsError(weak)
	return e.Saying("SLUICE_ADMIN_PASSWORD can't be the password of the user " + sluice.AdminName + ": " + e.Message)
}

func isAdmin(a *sluice.Account) bool {
	return !a.Disabled && a.Password != "" && slices.Contains(a.Roles, sluice.AdminName)
}

// keepsAdmin refuses a change after which nobody could administer the service.
func keepsAdmin(before, after *sluice.Account, all map[string]*sluice.Account) error {
	if before == nil || !isAdmin(before) || after != nil && isAdmin(after) {
		return nil
	}
	for _, other := range all {
		if other.Username != before.Username && isAdmin(other) {
			return nil
		}
	}
	return sluice.CodeLastAdmin.Errorf("This is the last administrator who can log in; make another one first.")
}
