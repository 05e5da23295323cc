package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/limit"
)

// Throttled runs a check of credentials, unless too many wrong ones came from this
// address before, for this account or for many accounts.
func (d *Directory) Throttled(
	ctx context.Context, username, address string, check func() (sluice.User, error),
) (sluice.User, error) {
	user, err := d.counted(username, address, check)
	d.noteWrong(ctx, username, address, err)
	return user, err
}

// counted is Throttled without the audit log.
func (d *Directory) counted(username, address string, check func() (sluice.User, error)) (none sluice.User, _ error) {
	if err := d.mayTry(username, address); err != nil {
		return none, err
	}
	user, err := check()
	if err == nil {
		d.pairs.Succeed(pairOf(username, address))
		d.Prove(username, address)
		return user, nil
	}
	if sluice.Unauthenticated.Is(err) && !d.starting() {
		d.guesses.Fail(limit.Neighbours(address))
		if d.pairs.Fail(pairOf(username, address)) == 1 {
			d.addresses.Fail(limit.Network(address)) // one more account
		}
	}
	return none, err
}

// provenFor is how long after a login from an address, or a token that was shown there, the
// account is not slowed down by wrong credentials of others.
const provenFor = 24 * time.Hour

// Prove notes that a user was known by right credentials from an address.
func (d *Directory) Prove(username, address string) {
	d.proven.Put(pairOf(username, address), true, time.Now().Add(provenFor))
}

// guessOf returns the place that a password has in the queue for a core.
func (d *Directory) guessOf(username, address string) *guess {
	proven, _ := d.proven.Get(pairOf(username, address), time.Now())
	network := limit.Neighbours(address)
	return &guess{network: network, proven: proven, wrong: d.guesses.Count(network)}
}

// mayTry refuses credentials if too many went wrong before.
func (d *Directory) mayTry(username, address string) error {
	pair := pairOf(username, address)
	wait := d.pairs.Wait(pair)
	if proven, _ := d.proven.Get(pair, time.Now()); !proven {
		wait = max(wait, d.addresses.Wait(limit.Network(address)))
	}
	if wait == 0 {
		return nil
	}
	return sluice.CodeTooManyLogins.Errorf("Too many wrong credentials came from this address.").After(wait)
}

func pairOf(username, address string) string { return username + "\x00" + limit.Network(address) }
