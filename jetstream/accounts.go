package jetstream

import (
	"context"
	"encoding/base64"

	"sluice"
)

// Accounts implements sluice.Accounts on a bucket whose keys are the names, in
// base64 since a key can't have every character a name may have.
type Accounts struct {
	bucket *bucket[sluice.Account]
}

// Account implements sluice.Accounts.
func (a *Accounts) Account(ctx context.Context, username string) (sluice.Account, error) {
	account, err := a.bucket.get(ctx, accountKey(username))
	if err != nil {
		return sluice.Account{}, err
	}
	if account == nil {
		return sluice.Account{}, sluice.Errorf(sluice.NotFound, "user-not-found", "There is no user of that name.")
	}
	return *account, nil
}

// CreateAccount implements sluice.Accounts.
func (a *Accounts) CreateAccount(ctx context.Context, account sluice.Account) error {
	_, err := a.bucket.change(ctx, accountKey(account.Username), func(before *sluice.Account) (*sluice.Account, error) {
		if before != nil {
			return nil, sluice.Errorf(sluice.Conflict, "user-exists", "There is a user of that name already.")
		}
		return &account, nil
	})
	return err
}

func accountKey(username string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(username))
}
