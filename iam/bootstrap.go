package iam

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"sluice"
)

// Bootstrap creates the admin if there is none, with the given password or one
// that it makes up and returns: it is shown once and stored nowhere.
func Bootstrap(ctx context.Context, accounts sluice.Records[sluice.Account], password string) (created bool, generated string, err error) {
	admin, err := accounts.Get(ctx, sluice.AdminName)
	if err != nil || admin != nil {
		return false, "", err
	}
	if password == "" {
		generated = strings.ToLower(rand.Text())
		password = generated
	}
	now := time.Now().UTC()
	mine := &sluice.Account{
		ID:       rand.Text(),
		Username: sluice.AdminName,
		Password: HashPassword(password),
		Roles:    []string{sluice.AdminName},
		Created:  now,
		Updated:  now,
	}
	kept, err := accounts.Change(ctx, sluice.AdminName, func(before *sluice.Account, _ map[string]*sluice.Account) (*sluice.Account, error) {
		if before != nil {
			return before, nil // another node was faster
		}
		return mine, nil
	})
	if err != nil || kept != mine {
		return false, "", err
	}
	return true, generated, nil
}
