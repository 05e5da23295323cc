package client_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice"
	"sluice/client"
	"sluice/config"
	"sluice/problem"
	"sluice/serve"
)

const password = "a password for tests"

// startServer starts a real server and gives its URL.
func startServer(t *testing.T, settings map[string]string) string {
	t.Helper()
	flags := map[string]string{"listen": "127.0.0.1:0", "data": filepath.Join(t.TempDir(), "data"), "min-free-disk": "1MiB"}
	maps.Copy(flags, settings)
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		t.Fatal(err)
	}
	server, err := serve.Start(t.Context(), cfg, serve.Options{AdminPassword: password, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := server.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return "http://" + server.Address()
}

func newClient(t *testing.T, server string, credentials client.Credentials) *client.Client {
	t.Helper()
	c, err := client.New(server, credentials)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// logIn returns the profiles of a person who is logged in.
func logIn(t *testing.T, server string) *client.Profiles {
	t.Helper()
	login, err := newClient(t, server, client.Fixed("")).Login(t.Context(), func() (string, string, error) { return "admin", password, nil })
	if err != nil {
		t.Fatal(err)
	}
	profiles := client.OpenProfiles(t.TempDir())
	if err := profiles.Save(t.Context(), "default", login); err != nil {
		t.Fatal(err)
	}
	return profiles
}

func whoAmI(t *testing.T, c *client.Client) {
	t.Helper()
	answer, err := c.Command(t.Context(), "iam.whoami", nil, nil)
	if err != nil {
		t.Error(err)
	} else if !strings.Contains(string(answer.Body), `"username":"admin"`) {
		t.Errorf("whoami says %s", answer.Body)
	}
}

// TestManyClientsRenewAtOnce: were one to use a refresh token that another has
// used, the server would end the login.
func TestManyClientsRenewAtOnce(t *testing.T) {
	server := startServer(t, map[string]string{"access-ttl": "5s"}) // no more than a client takes for fresh
	profiles := logIn(t, server)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c := newClient(t, server, &client.Session{Profiles: profiles, Profile: "default"})
			for range 2 {
				whoAmI(t, c)
			}
		})
	}
	all.Wait()
	whoAmI(t, newClient(t, server, &client.Session{Profiles: profiles, Profile: "default"}))
}

// TestARefusedAccessTokenIsRenewed: the server may refuse a token that should
// have lived on, as after a change of its clock.
func TestARefusedAccessTokenIsRenewed(t *testing.T) {
	server := startServer(t, nil)
	profiles := logIn(t, server)
	login, err := profiles.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	before := login.RefreshToken
	login.AccessToken = login.AccessToken[:len(login.AccessToken)-8] + "AAAAAAAA"
	if err := profiles.Save(t.Context(), "default", login); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, server, &client.Session{Profiles: profiles, Profile: "default"})
	whoAmI(t, c)
	if login, err = profiles.Load("default"); err != nil || login.RefreshToken == before {
		t.Errorf("the tokens were not renewed (%v)", err)
	}
	whoAmI(t, c)
}

// TestAnEndedLoginSaysSo: also when it ends between two calls.
func TestAnEndedLoginSaysSo(t *testing.T) {
	server := startServer(t, nil)
	profiles := logIn(t, server)
	c := newClient(t, server, &client.Session{Profiles: profiles, Profile: "default"})
	whoAmI(t, c)
	login, err := profiles.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Logout(t.Context(), login); err != nil {
		t.Fatal(err)
	}
	_, err = c.Command(t.Context(), "iam.whoami", nil, nil)
	if e := sluice.AsError(err); e.Kind != sluice.Unauthenticated || !strings.Contains(e.Message, "has ended") {
		t.Errorf("got %v", err)
	}
}

// TestAPipelineThatAnswers401RunsOnce: only a refused token is a reason to call
// again.
func TestAPipelineThatAnswers401RunsOnce(t *testing.T) {
	server := startServer(t, nil)
	c := newClient(t, server, &client.Session{Profiles: logIn(t, server), Profile: "default"})
	const source = "pipeline:\n  - event.send: {eventKey: webhook.ran}\n  - fail: {message: no, statusCode: 401}\n"
	_, cursor, err := c.Events(t.Context(), client.Position{Pattern: "webhook.ran"}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RunSource(t.Context(), source, nil, nil); problem.Status(err) != 401 {
		t.Errorf("got %v", err)
	}
	events, _, err := c.Events(t.Context(), client.Position{Pattern: "webhook.ran", After: cursor}, 10, 0)
	if err != nil || len(events) != 1 {
		t.Errorf("it ran %d times (%v)", len(events), err)
	}
}

func TestProfilesAreForTheirOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	profiles := client.OpenProfiles(dir)
	if names, err := profiles.Names(); err != nil || len(names) != 0 {
		t.Errorf("a folder that is not there has the profiles %q (%v)", names, err)
	}
	for _, name := range []string{"", ".hidden", "../up", "a/b", strings.Repeat("x", 65)} {
		if err := profiles.Save(t.Context(), name, client.Login{}); err == nil || sluice.AsError(err).Kind != sluice.Invalid {
			t.Errorf("the name %q gives %v", name, err)
		}
	}
	for _, name := range []string{"b", "a"} {
		if err := profiles.Save(t.Context(), name, client.Login{URL: "http://" + name, RefreshToken: "secret"}); err != nil {
			t.Fatal(err)
		}
	}
	if profiles.Current() != "a" {
		t.Errorf("the current profile is %s, want that of the last login", profiles.Current())
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := profiles.Delete("a"); err != nil || profiles.Current() != "default" {
		t.Errorf("after its end the current profile is %s (%v)", profiles.Current(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "profiles", "b.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := profiles.Load("b"); err == nil || !strings.Contains(sluice.AsError(err).Message, "sluice login --profile b") {
		t.Errorf("a broken profile gives %v", err)
	}
	if err := profiles.Delete("b"); err != nil {
		t.Errorf("a broken profile can't be deleted: %v", err)
	}
}
