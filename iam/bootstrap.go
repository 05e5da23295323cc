package iam

import (
	"context"
	"crypto/rand"
	"strings"

	"sluice"
)

// AdminName is the user that the first start creates.
const AdminName = "admin"

// Bootstrap creates the admin if there is none, with the given password or one
// that it makes up and returns: it is shown once and stored nowhere.
func Bootstrap(ctx context.Context, accounts sluice.Accounts, password string) (generated string, err error) {
	_, err = accounts.Account(ctx, AdminName)
	if err == nil || sluice.AsError(err).Kind != sluice.NotFound {
		return "", err
	}
	if password == "" {
		generated = strings.ToLower(rand.Text())
		password = generated
	}
	err = accounts.CreateAccount(ctx, sluice.Account{
		Username: AdminName,
		Password: HashPassword(password),
		Roles:    []string{AdminName},
	})
	if err != nil && sluice.AsError(err).Kind == sluice.Conflict {
		return "", nil // another node was faster
	}
	return generated, err
}
