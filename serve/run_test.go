package serve_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream"
	"sluice/seal"
	"sluice/serve"
)

// running is a server started the way the command line starts it.
type running struct {
	*service
	banner *transcript
	url    string
	stop   func()
}

var listensOn = regexp.MustCompile(`listens on (\S+)`)

// runServer runs a server until the test ends, and waits for its banner.
func runServer(t *testing.T, password string, settings ...string) *running {
	t.Helper()
	r := startRun(t, password, settings...)
	r.awaitBanner()
	return r
}

// awaitBanner waits until the server says how to try it.
func (r *running) awaitBanner() {
	r.t.Helper()
	eventually(r.t, "the banner", func() bool { return strings.Contains(r.banner.String(), "open in a browser: ") })
	r.url = listensOn.FindStringSubmatch(r.banner.String())[1]
}

// startRun runs a server until the test ends.
func startRun(t *testing.T, password string, settings ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{
		service: &service{t: t, config: load(t, t.TempDir(), settings...), log: new(transcript), client: newClient()},
		banner:  new(transcript),
	}
	ended := make(chan error, 1)
	go func() {
		ended <- serve.Run(ctx, r.config, serve.Options{AdminPassword: password, Log: r.log.logger()}, r.banner)
	}()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		r.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// TestAdminIsCreatedLater: an engine that takes everything but the admin, as one
// that is full, does not make a restart necessary.
func TestAdminIsCreatedLater(t *testing.T) {
	t.Parallel()
	options := engineOptions(t.TempDir())
	options.Users = []*server.User{{Username: "u", Password: "p"}}
	engine, stop := runEngine(t, options)
	t.Cleanup(stop)
	address := "nats://u:p@" + engine.Addr().String()
	denied := options.Clone()
	denied.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Deny: []string{"$KV." + bucketOf(t, address, "accounts") + ".>"}},
	}}}
	if err := engine.ReloadOptions(denied); err != nil {
		t.Fatal(err)
	}
	r := startRun(t, adminPassword, "nats="+address, "secret-key="+strings.Repeat("0f", 32))
	eventually(t, "the failure", func() bool { return strings.Contains(r.log.String(), "The admin could not be created") })
	allowed := options.Clone()
	allowed.Users = []*server.User{{Username: "u", Password: "p"}}
	if err := engine.ReloadOptions(allowed); err != nil {
		t.Fatal(err)
	}
	r.awaitBanner()
	eventually(t, "readiness", func() bool { return strings.HasPrefix(r.exchange("GET", "/readyz", ""), "HTTP/1.1 200") })
}

// bucketOf sets an external engine up, and gives the name that it has for a bucket.
func bucketOf(t *testing.T, address, name string) string {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{
		URL: address, Replicas: 1, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
		Box: func(bool) (*seal.Box, error) { return seal.New(bytes.Repeat([]byte{0x0f}, seal.KeySize)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	<-e.SetUp()
	e.Close()
	conn, err := nats.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := natsjetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for bucket := range js.KeyValueStoreNames(t.Context()).Name() {
		if strings.HasPrefix(bucket, name+"-") {
			found = bucket
		}
	}
	if found == "" {
		t.Fatalf("there is no bucket of %s", name)
	}
	return found
}

// TestGeneratedPassword: without a given one, the first start makes a password up
// and shows it once; the next start doesn't know it any more.
func TestGeneratedPassword(t *testing.T) {
	t.Parallel()
	r := runServer(t, "")
	password := regexp.MustCompile(`has the password (\S+)`).FindStringSubmatch(r.banner.String())
	if password == nil {
		t.Fatalf("the banner shows no password:\n%s", r.banner)
	}
	if times := strings.Count(r.banner.String(), password[1]); times != 1 {
		t.Errorf("the banner shows the password %d times, want once:\n%s", times, r.banner)
	}
	answer := r.exchange("GET", "/api/v3/command/webhook.get", "", header("Authorization", basic("admin", password[1])))
	if !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("the password is not valid: %s", answer)
	}
	if len(password[1]) < 20 {
		t.Errorf("the password %q is short", password[1])
	}
	r.stop()
	if strings.Contains(r.log.String(), password[1]) {
		t.Error("the log has the password in it")
	}
}

// TestBanner: a start says where the server is, how to try it, and what to take
// care of.
func TestBanner(t *testing.T) {
	t.Parallel()
	plain, warned := "serving plain HTTP", "set --public-url"
	for _, test := range []struct {
		name      string
		settings  []string
		says, not []string
	}{
		{"on this machine only", nil, []string{"listens on http://127.0.0.1:", "embedded", "curl -s -u admin -d"}, []string{plain, warned, adminPassword}},
		{"on all addresses", []string{"listen=0.0.0.0:0"}, []string{"listens on http://localhost:", plain, warned}, nil},
		{"behind a public URL", []string{"listen=0.0.0.0:0", "public-url=https://hooks.example.org"}, []string{"listens on http://localhost:", " as https://hooks.example.org (engine: embedded)", plain}, []string{warned}},
	} {
		t.Run(test.name, func(t *testing.T) {
			banner := runServer(t, adminPassword, test.settings...).banner.String()
			for _, text := range test.says {
				if !strings.Contains(banner, text) {
					t.Errorf("the banner doesn't say %q:\n%s", text, banner)
				}
			}
			for _, text := range test.not {
				if strings.Contains(banner, text) {
					t.Errorf("the banner says %q:\n%s", text, banner)
				}
			}
		})
	}
}
