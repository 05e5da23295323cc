package iam

import (
	"context"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/limit"
)

// Login implements sluice.Directory.
func (d *Directory) Login(ctx context.Context, username, password, address string) (sluice.User, error) {
	starting := d.starting()
	user, err := d.login(ctx, username, norm.NFC.String(password), address)
	if err = unlessStarting(starting, err); err != nil {
		d.noteWrong(ctx, username, address, err)
		return sluice.User{}, err
	}
	d.UserUsed(username)
	return user, nil
}

// starting reports whether there may be no user yet.
func (d *Directory) starting() bool { return d.Started != nil && !d.Started() }

// unlessStarting replaces the refusal of a caller by a passing error, if the first user
// did not exist yet when the credentials came: they may be right.
func unlessStarting(starting bool, err error) error {
	if err == nil || !starting || sluice.AsError(err).Kind != sluice.Unauthenticated {
		return err
	}
	return sluice.Errorf(sluice.CodeStarting, "The server is starting.").After(time.Second)
}

func (d *Directory) login(ctx context.Context, username, password, address string) (sluice.User, error) {
	account, err := d.Accounts.Get(ctx, username)
	if err != nil {
		return sluice.User{}, err
	}
	stored := ""
	if account != nil && !account.Disabled {
		stored = account.Password
	}
	// The throttle comes first. Otherwise a remembered password could be guessed at
	// any speed.
	if err := d.mayTry(username, address); err != nil {
		return sluice.User{}, err
	}
	remembered := d.recent.has(username, password, stored)
	if !remembered {
		release, err := d.hashing.take(ctx, d.guessOf(username, address))
		if err != nil {
			return sluice.User{}, err
		}
		defer release()
	}
	// The throttle is checked again after the wait for a core, and counts before the
	// core is free. Otherwise a flood of guesses that wait together would all be checked.
	return d.counted(username, address, func() (sluice.User, error) {
		if !remembered {
			if !d.isRight(stored, password) {
				return sluice.User{}, sluice.WrongCredentials()
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

// Throttled runs a check of credentials, unless too many wrong ones came from this
// address before, for this account or for many accounts.
func (d *Directory) Throttled(ctx context.Context, username, address string, check func() (sluice.User, error)) (sluice.User, error) {
	user, err := d.counted(username, address, check)
	d.noteWrong(ctx, username, address, err)
	return user, err
}

// counted is Throttled without the audit log.
func (d *Directory) counted(username, address string, check func() (sluice.User, error)) (sluice.User, error) {
	if err := d.mayTry(username, address); err != nil {
		return sluice.User{}, err
	}
	user, err := check()
	if err == nil {
		d.pairs.Succeed(pairOf(username, address))
		d.Prove(username, address)
		return user, nil
	}
	if sluice.AsError(err).Kind == sluice.Unauthenticated && !d.starting() {
		d.guesses.Fail(limit.Neighbours(address))
		if d.pairs.Fail(pairOf(username, address)) == 1 {
			d.addresses.Fail(limit.Network(address)) // one more account
		}
	}
	return sluice.User{}, err
}

// noteWrong enters wrong credentials in the audit log.
func (d *Directory) noteWrong(ctx context.Context, username, address string, err error) {
	if err == nil || sluice.AsError(err).Kind != sluice.Unauthenticated {
		return
	}
	d.Note(ctx, sluice.AuditEntry{Username: d.knownName(ctx, username), Address: address, Command: "login", Outcome: sluice.AuditRefused, Code: sluice.AsError(err).Code})
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
	return sluice.Errorf(sluice.CodeTooManyLogins, "Too many wrong credentials came from this address.").After(wait)
}

func pairOf(username, address string) string { return username + "\x00" + limit.Network(address) }

// knownName returns the name of a user there is. Others are left out of the audit
// log: people type their password into the wrong field.
func (d *Directory) knownName(ctx context.Context, username string) string {
	if account, err := d.Accounts.Get(ctx, username); err == nil && account != nil {
		return account.Username
	}
	return ""
}

// tallyTime is how long entries are counted before one entry stands for them.
const tallyTime = time.Minute

// A tally counts entries that anybody could flood the audit log with, and enters one for
// all of them from time to time.
type tally struct {
	record func(context.Context, sluice.AuditEntry)

	mu      sync.Mutex
	counted map[tallyKey]*sluice.AuditEntry
	timer   *time.Timer // enters them; nil: there are none
}

// A tallyKey says which entries are counted together. A user has at most one for each
// command, outcome and code.
type tallyKey struct{ username, command, outcome, code string }

func keyOf(e sluice.AuditEntry) tallyKey { return tallyKey{e.Username, e.Command, e.Outcome, e.Code} }

func newTally(record func(context.Context, sluice.AuditEntry)) *tally {
	return &tally{record: record, counted: make(map[tallyKey]*sluice.AuditEntry)}
}

// add counts an entry.
func (t *tally) add(e sluice.AuditEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.find(e).Count++
}

// repeated counts an entry if one like it came within the last minute. Otherwise the
// caller must enter it.
func (t *tally) repeated(e sluice.AuditEntry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.counted[keyOf(e)]
	if counted := t.find(e); known {
		counted.Count++
	}
	return known
}

// find returns the entry that stands for all of a kind, brought up to date.
func (t *tally) find(e sluice.AuditEntry) *sluice.AuditEntry {
	counted := t.counted[keyOf(e)]
	if counted == nil {
		counted = &e
		t.counted[keyOf(e)] = counted
	}
	if counted.Target != e.Target {
		counted.Target = "" // of several
	}
	if counted.TraceID != e.TraceID {
		counted.TraceID, counted.Caller = "", ""
	}
	counted.Time, counted.Address = e.Time, e.Address
	if t.timer == nil {
		t.timer = time.AfterFunc(tallyTime, func() { t.flush(context.Background()) })
	}
	return counted
}

// flush enters what was counted.
func (t *tally) flush(ctx context.Context) {
	t.mu.Lock()
	counted := t.counted
	t.counted = make(map[tallyKey]*sluice.AuditEntry)
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.mu.Unlock()
	for _, e := range counted {
		if e.Count > 0 {
			t.record(ctx, *e)
		}
	}
}
