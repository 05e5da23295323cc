package iam

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sluice"
)

const (
	rememberFor   = 5 * time.Minute
	maxRemembered = 10_000
	maxPassword   = 1 << 10
	hashWait      = 2 * time.Second
)

// An Authenticator finds the user behind an Authorization header.
type Authenticator struct {
	accounts sluice.Records[sluice.Account]
	realm    string
	dummy    func() string // hash that unknown users are checked against
	hashing  chan struct{} // bounds the cores that hash passwords

	// Credentials that were right a short time ago, so that Basic doesn't
	// cost a password hash per call. The key is a keyed hash of name and
	// password, which is of no use elsewhere.
	key        []byte
	mu         sync.Mutex
	remembered map[[sha256.Size]byte]memory
}

type memory struct {
	stored string // the password hash it was checked against
	until  time.Time
}

// NewAuthenticator gives an authenticator of the users of a realm.
func NewAuthenticator(accounts sluice.Records[sluice.Account], realm string) *Authenticator {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &Authenticator{
		accounts:   accounts,
		realm:      realm,
		dummy:      sync.OnceValue(func() string { return HashPassword(rand.Text()) }),
		hashing:    make(chan struct{}, runtime.NumCPU()),
		key:        key,
		remembered: make(map[[sha256.Size]byte]memory),
	}
}

// Authenticate gives the user that a request's Authorization header stands for.
func (a *Authenticator) Authenticate(r *http.Request) (sluice.User, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return sluice.User{}, sluice.Errorf(sluice.Invalid, "authorization-ambiguous", "The request has more than one Authorization header; send one.")
	}
	if len(headers) == 0 {
		return sluice.User{}, a.refuse("authorization-missing", "This needs an Authorization header.")
	}
	scheme, credentials, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return sluice.User{}, a.refuse("authorization-invalid", "This scheme of authorization is not known here; use Basic.")
	}
	username, password, ok := parseBasic(credentials)
	if !ok {
		return sluice.User{}, a.wrong()
	}
	return a.login(r.Context(), username, password)
}

func (a *Authenticator) login(ctx context.Context, username, password string) (sluice.User, error) {
	account, err := a.accounts.Get(ctx, username)
	if err != nil {
		return sluice.User{}, err
	}
	known := account != nil
	if !known {
		account = &sluice.Account{Password: a.dummy()} // same work as for a known user
	}
	id := a.fingerprint(username, password)
	if !a.recalls(id, account.Password) {
		select {
		case a.hashing <- struct{}{}:
		case <-time.After(hashWait):
			e := sluice.Errorf(sluice.Unavailable, "login-busy", "Too many passwords are being checked. Try again soon.")
			e.RetryAfter = hashWait
			return sluice.User{}, e
		}
		right := verify(account.Password, password)
		<-a.hashing
		if !right || !known {
			return sluice.User{}, a.wrong()
		}
		a.remember(id, account.Password)
	}
	return sluice.User{Name: account.Username, Permissions: []string{"*"}}, nil
}

// parseBasic reads the credentials of the Basic scheme (RFC 7617).
func parseBasic(credentials string) (username, password string, ok bool) {
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
	if err != nil || !utf8.Valid(decoded) {
		return "", "", false
	}
	username, password, ok = strings.Cut(string(decoded), ":")
	control := strings.ContainsFunc(string(decoded), func(r rune) bool { return r < ' ' || r == 0x7f })
	return username, password, ok && !control && username != "" && len(password) <= maxPassword
}

func (a *Authenticator) fingerprint(username, password string) (id [sha256.Size]byte) {
	h := hmac.New(sha256.New, a.key)
	h.Write([]byte(username + ":" + password)) // a name has no colon
	return [sha256.Size]byte(h.Sum(id[:0]))
}

func (a *Authenticator) recalls(id [sha256.Size]byte, stored string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.remembered[id]
	return ok && m.stored == stored && time.Now().Before(m.until)
}

func (a *Authenticator) remember(id [sha256.Size]byte, stored string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.remembered) >= maxRemembered {
		clear(a.remembered)
	}
	a.remembered[id] = memory{stored, time.Now().Add(rememberFor)}
}

func (a *Authenticator) wrong() error {
	return a.refuse("authorization-invalid", "The credentials are not valid.")
}

func (a *Authenticator) refuse(code, message string) error {
	e := sluice.Errorf(sluice.Unauthenticated, code, "%s", message)
	e.Challenge = `Basic realm="` + a.realm + `", charset="UTF-8"`
	return e
}
