package iam

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/stretch"
)

func TestWrongPasswordsAreThrottledByAccountAndAddress(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","password":"correct horse"}`)
	attacker, other := "198.51.100.7", "192.0.2.1"
	for range freeGuesses {
		_, err := d.Login(t.Context(), "admin", "wrong", attacker)
		wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
	}
	_, err := d.Login(t.Context(), "admin", "admin-password", attacker)
	wantCode(t, err, sluice.Throttled, "too-many-logins")
	if wait := sluice.AsError(err).RetryAfter; wait <= 0 {
		t.Errorf("the wait is %s", wait)
	}
	if _, err := d.Login(t.Context(), "admin", "admin-password", other); err != nil {
		t.Errorf("the owner is locked out from elsewhere: %v", err)
	}
	if _, err := d.Login(t.Context(), "ada", "correct horse", attacker); err != nil {
		t.Errorf("another account from the same address is locked out: %v", err)
	}
}

// TestAFloodThatWaitsIsNotChecked: guesses that wait together for a free core
// are not checked when the first of them were wrong.
func TestAFloodThatWaitsIsNotChecked(t *testing.T) {
	d := newDirectory(t)
	most := d.hashing.free
	d.hashing.free = 0 // all cores are busy
	const guesses, attacker = 50, "198.51.100.7"
	for range freeGuesses - 1 {
		d.pairs.Fail(pairOf("admin", attacker))
	}
	var started, done sync.WaitGroup
	var checked atomic.Int32
	started.Add(guesses)
	for range guesses {
		done.Go(func() {
			started.Done()
			_, err := d.Login(t.Context(), "admin", "wrong", attacker)
			if sluice.AsError(err).Code == "authorization-invalid" {
				checked.Add(1)
			}
		})
	}
	started.Wait()
	for range most {
		d.hashing.release()
	}
	done.Wait()
	// As many as there are cores are under way when the first one is wrong.
	if int(checked.Load()) > most {
		t.Errorf("of %d guesses %d were checked, want at most %d", guesses, checked.Load(), most)
	}
}

func TestARememberedPasswordIsNoOracle(t *testing.T) {
	d := newDirectory(t)
	if _, err := d.Login(t.Context(), "admin", "admin-password", "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	attacker := "198.51.100.7"
	for range freeGuesses {
		_, err := d.Login(t.Context(), "admin", "wrong", attacker)
		wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
	}
	_, err := d.Login(t.Context(), "admin", "admin-password", attacker)
	wantCode(t, err, sluice.Throttled, "too-many-logins")
}

func TestUnknownUsersCostTheSame(t *testing.T) {
	d := newDirectory(t)
	d.dummy() // made once, at the first unknown user
	// The least of a few counts: in each of them the machine may have paused.
	hashes := func(username string) time.Duration {
		least := time.Duration(math.MaxInt64)
		for i := range 3 {
			began := time.Now()
			_, err := d.Login(t.Context(), username, "wrong", fmt.Sprint("192.0.2.", i))
			wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
			least = min(least, time.Since(began))
		}
		return least
	}
	known, unknown := hashes("admin"), hashes("nobody")
	// One password hash each: without one, an answer would be a thousand times faster. The figures
	// are logged.
	t.Logf("known user %s, unknown user %s", known, unknown)
	if unknown < known/20 {
		t.Errorf("an unknown user is told from a known one by time: %s and %s", unknown, known)
	}
}

func TestHashingIsBoundToItsCores(t *testing.T) {
	defer stretch.By(1)()
	d := newDirectory(t)
	if d.hashing.free != max(1, runtime.NumCPU()/2) {
		t.Errorf("%d passwords may be hashed at a time", d.hashing.free)
	}
	d.hashing.free = 0 // all cores are busy
	var busy atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := d.Login(t.Context(), "admin", "wrong", string(rune('a'+i)))
			if err != nil && sluice.AsError(err).Code == "login-busy" && sluice.AsError(err).RetryAfter > 0 {
				busy.Add(1)
			}
		})
	}
	all.Wait()
	if busy.Load() != 20 {
		t.Errorf("%d of 20 were told to come again", busy.Load())
	}
	d.hashing.release()
	if _, err := d.Login(t.Context(), "admin", "admin-password", "192.0.2.1"); err != nil {
		t.Error(err)
	}
	// Remembered: needs no hash, so no free core either.
	d.hashing.free = 0
	if _, err := d.Login(t.Context(), "admin", "admin-password", "192.0.2.1"); err != nil {
		t.Errorf("a remembered password was hashed again: %v", err)
	}
}

// TestStrangersKeepNobodyOut: behind 10,000 guesses from as many networks, the admin waits
// for the password that is being checked, and for no other one; and so does whoever comes
// for the first time.
func TestStrangersKeepNobodyOut(t *testing.T) {
	for _, known := range []bool{true, false} {
		d := newDirectory(t)
		const home = "192.0.2.1"
		if known {
			d.Prove("admin", home)
		}
		d.hashing.free = 0 // the only core is busy
		ctx, leave := context.WithCancel(t.Context())
		var strangers sync.WaitGroup
		var checked, ended atomic.Int32
		const guesses = 10_000
		for i := range guesses {
			address := fmt.Sprintf("10.%d.%d.%d", i>>8, i&0xff, i&0xff)
			if i%2 == 1 {
				address = fmt.Sprintf("2001:db8:%x:%x::%x", i>>8, i&0xff, i)
			}
			strangers.Go(func() {
				defer ended.Add(1)
				if _, err := d.Login(ctx, "admin", "wrong", address); sluice.AsError(err).Code == "authorization-invalid" {
					checked.Add(1)
				}
			})
		}
		wait(t, d, func(waiting []*guess) bool { return len(waiting) == maxGuesses && ended.Load() == guesses-maxGuesses })
		entered := make(chan error, 1)
		go func() {
			_, err := d.Login(t.Context(), "admin", "admin-password", home)
			entered <- err
		}()
		wait(t, d, func(waiting []*guess) bool {
			return slices.ContainsFunc(waiting, func(g *guess) bool { return g.network == "192.0.2.0/24" })
		})
		d.hashing.release()
		if err := <-entered; err != nil {
			t.Errorf("known %t: the admin is kept out: %v", known, err)
		}
		if n := checked.Load(); n > 1 {
			t.Errorf("known %t: %d guesses were checked before", known, n)
		}
		leave()
		strangers.Wait()
	}
}

// TestNetworksWaitInTurn: a network has one password waiting, and each wrong one puts it
// behind those with fewer.
func TestNetworksWaitInTurn(t *testing.T) {
	c := &cores{}
	var order []*guess
	enter := func(g *guess) bool {
		g.done = make(chan struct{})
		return c.enter(g)
	}
	guilty, old, fresh := &guess{network: "a", wrong: 3}, &guess{network: "b"}, &guess{network: "c"}
	first, second := &guess{network: "a", proven: true}, &guess{network: "a", proven: true}
	for _, g := range []*guess{old, guilty, first, fresh, second} {
		if !enter(g) {
			t.Errorf("%+v may not wait", g)
		}
	}
	if enter(&guess{network: "a"}) {
		t.Error("a network has two passwords waiting")
	}
	for len(c.waiting) > 0 {
		before := slices.Clone(c.waiting)
		c.release()
		order = append(order, slices.DeleteFunc(before, func(g *guess) bool { return slices.Contains(c.waiting, g) })...)
	}
	if want := []*guess{first, second, fresh, old, guilty}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

// wait waits until the guesses that wait are as they should be.
func wait(t *testing.T, d *Directory, is func([]*guess) bool) {
	t.Helper()
	for t.Context().Err() == nil {
		d.hashing.mu.Lock()
		there := is(d.hashing.waiting)
		d.hashing.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}

// TestOneAccountDoesNotLockOthers: however many wrong passwords come for one
// account, others at the same address log in; guesses at many accounts are slowed
// down, but not for who has logged in from there.
func TestOneAccountDoesNotLockOthers(t *testing.T) {
	d := newDirectory(t)
	const address = "198.51.100.7"
	wrong := func(username string) {
		_, _ = d.counted(username, address, func() (sluice.User, error) { return sluice.User{}, sluice.WrongCredentials() })
	}
	for range 3 * freeAccounts {
		d.pairs.Fail(pairOf("ada", address)) // as if each had waited its turn
		wrong("ada")
	}
	if err := d.mayTry("bob", address); err != nil {
		t.Errorf("another account is locked: %v", err)
	}
	if _, err := d.Login(t.Context(), "admin", "admin-password", address); err != nil {
		t.Errorf("another account is locked: %v", err)
	}
	for i := range freeAccounts {
		wrong(fmt.Sprint("guess", i))
	}
	wantCode(t, d.mayTry("bob", address), sluice.Throttled, "too-many-logins")
	if err := d.mayTry("admin", address); err != nil {
		t.Errorf("who has logged in from there is locked: %v", err)
	}
}

// TestBeforeTheFirstUser: credentials that may be right are not called wrong, and
// nobody is slowed down for them.
func TestBeforeTheFirstUser(t *testing.T) {
	d := newDirectory(t)
	d.Started = func() bool { return false }
	a := authenticator(d, d.Login, unobserved)
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	for range 2 * freeGuesses {
		_, err := d.Login(t.Context(), "soon", "correct horse", "192.0.2.1")
		wantCode(t, err, sluice.Unavailable, "starting")
		_, err = a.Authenticate(httptest.NewRecorder(), request)
		wantCode(t, err, sluice.Unavailable, "starting")
	}
	// The user is made while the password is checked.
	asked := 0
	d.Started = func() bool { asked++; return asked > 1 }
	_, err := d.Login(t.Context(), "soon", "correct horse", "192.0.2.1")
	wantCode(t, err, sluice.Unavailable, "starting")
	d.Started = func() bool { return true }
	_, err = d.Login(t.Context(), "soon", "correct horse", "192.0.2.1")
	wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
	_, err = a.Authenticate(httptest.NewRecorder(), request)
	wantCode(t, err, sluice.Unauthenticated, "authorization-missing")
}
