package oidc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/stretch"
)

// TestMain checks that nothing is left running.
func TestMain(m *testing.M) {
	natstest.InMemory()
	stretch.By(5)
	goleak.VerifyTestMain(m)
}

// Who is known in all tests.
const (
	userName     = "anna"
	userPassword = "correct horse battery staple"
	publicID     = "sluice"
	secretID     = "robot"
	webID        = "web"
	webRedirect  = "https://app.example.org/cb?from=sluice"
	robotSecret  = "p%ss: w+rd/ä" // has what must be encoded in a header
)

// A table is a directory of a few users and clients.
type table struct {
	mu      sync.Mutex
	users   map[string][]string // name to roles
	clients map[string]*sluice.Client
	failure error // of every login, if any
}

func newTable() *table {
	secret := sha256.Sum256([]byte(robotSecret))
	all := []string{"authorization_code", "password", "refresh_token", "client_credentials"}
	return &table{
		users: map[string][]string{userName: {"developer", "viewer"}},
		clients: map[string]*sluice.Client{
			publicID: {ID: publicID, Grants: all},
			secretID: {ID: secretID, Secret: hex.EncodeToString(secret[:]), Roles: []string{"viewer"}, Grants: all},
			"once":   {ID: "once", Grants: []string{"password"}},
			webID:    {ID: webID, Secret: hex.EncodeToString(secret[:]), Grants: all[:1], RedirectURIs: []string{webRedirect, "http://127.0.0.1:1/cb"}},
		},
	}
}

func (d *table) Login(ctx context.Context, username, password, _ string) (sluice.User, error) {
	if d.failure != nil {
		return sluice.User{}, d.failure
	}
	if password != userPassword {
		return sluice.User{}, sluice.CodeAuthorizationInvalid.Errorf("No.")
	}
	return d.User(ctx, username)
}

func (d *table) User(_ context.Context, username string) (sluice.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	roles, ok := d.users[username]
	if !ok {
		return sluice.User{}, sluice.CodeUserGone.Errorf("Gone.")
	}
	return sluice.User{Name: username, Roles: roles}, nil
}

func (d *table) Client(_ context.Context, id string) (*sluice.Client, error) {
	return d.clients[id], nil
}

// remove deletes the user of the tests.
func (d *table) remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.users, userName)
}

// A fixture is an issuer that serves HTTP, on a real engine.
type fixture struct {
	*Issuer

	t         *testing.T
	directory *table
	server    *httptest.Server
	log       *bytes.Buffer
	ahead     atomic.Int64 // of the issuer's clock, in nanoseconds

	mu      sync.Mutex
	logins  []sluice.Login
	endings []sluice.Logout
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, jetstream.Options{Dir: t.TempDir()})
}

// newFixtureOn returns an issuer on the engine that the options say.
func newFixtureOn(t *testing.T, o jetstream.Options) *fixture {
	t.Helper()
	o.Box = natstest.Box
	o.EventMaxAge, o.EventMaxBytes, o.ResultTTL, o.Log = time.Hour, 64<<20, time.Hour, slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	select {
	case <-engine.SetUp():
	case <-time.After(time.Minute):
		t.Fatalf("the engine was not set up in time: %v", engine.Ready())
	}
	f := &fixture{t: t, directory: newTable(), log: new(bytes.Buffer)}
	f.server = httptest.NewUnstartedServer(nil)
	f.Issuer = NewIssuer(IssuerOptions{
		BaseURL:    "http://" + f.server.Listener.Addr().String(),
		Namespace:  "default",
		Directory:  f.directory,
		Sessions:   engine.Sessions,
		Keys:       engine.SigningKeys,
		AccessTTL:  5 * time.Minute,
		RefreshTTL: 720 * time.Hour,
		Rotation:   720 * time.Hour,
		Observe: func(_ context.Context, l sluice.Login) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.logins = append(f.logins, l)
		},
		Ended: func(_ context.Context, e sluice.Logout) {
			f.mu.Lock()
			defer f.mu.Unlock()
			e.Address, _, _ = strings.Cut(e.Address, ":")
			f.endings = append(f.endings, e)
		},
		Log: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	f.now = func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.server.Config.Handler = f.Handler()
	f.server.Start()
	t.Cleanup(f.server.Close)
	return f
}

// wait moves the issuer's clock.
func (f *fixture) wait(d time.Duration) { f.ahead.Add(int64(d)) }

// A reply is what an endpoint answered.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

func (r reply) str(name string) string {
	s, _ := r.body[name].(string)
	return s
}

// do sends a request to a path below the realm.
func (f *fixture) do(method, path string, header http.Header, body io.Reader) reply {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.server.URL+"/auth/realms/"+f.Namespace+path, body)
	if err != nil {
		f.t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	resp, err := f.server.Client().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(content)}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &r.body); err != nil {
			f.t.Fatalf("%s %s answered %d with %q: %v", method, path, r.status, content, err)
		}
	}
	return r
}

// post sends a form to an endpoint; pairs are names and values in turn.
func (f *fixture) post(endpoint string, pairs ...string) reply {
	f.t.Helper()
	return f.postWith(nil, endpoint, pairs...)
}

func (f *fixture) postWith(header http.Header, endpoint string, pairs ...string) reply {
	f.t.Helper()
	all := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	maps.Copy(all, header)
	return f.do(http.MethodPost, protocol+"/"+endpoint, all, strings.NewReader(form(pairs...)))
}

func form(pairs ...string) string {
	values := make(url.Values)
	for n := 0; n < len(pairs); n += 2 {
		values.Add(pairs[n], pairs[n+1])
	}
	return values.Encode()
}

// login gets tokens for the user from the public client.
func (f *fixture) login(scope string) reply {
	f.t.Helper()
	r := f.post("token", "grant_type", "password", "client_id", publicID, "username", userName, "password", userPassword, "scope", scope)
	if r.status != http.StatusOK {
		f.t.Fatalf("login: %d %s", r.status, r.text)
	}
	return r
}

// renew uses a refresh token of the public client.
func (f *fixture) renew(token string, more ...string) reply {
	f.t.Helper()
	return f.post("token", append([]string{"grant_type", "refresh_token", "client_id", publicID, "refresh_token", token}, more...)...)
}

// accepts reports whether an access token is valid, and fails on any error that
// is not Unauthenticated.
func (f *fixture) accepts(token string) bool {
	f.t.Helper()
	_, err := f.Access(f.t.Context(), token)
	return f.accepted(err)
}

// acceptsRefresh does the same for a refresh token.
func (f *fixture) acceptsRefresh(token string) bool {
	f.t.Helper()
	_, _, err := f.Refresh(f.t.Context(), token)
	return f.accepted(err)
}

func (f *fixture) accepted(err error) bool {
	f.t.Helper()
	if err != nil && sluice.AsError(err).Kind != sluice.Unauthenticated {
		f.t.Fatalf("error %v, want Unauthenticated", err)
	}
	return err == nil
}
