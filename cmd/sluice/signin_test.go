//go:build linux

package main

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/oidc/oidctest"
)

// A browser is what a person sees of the sign-in beside the terminal. The tests
// of the portal have a real one.
type browser struct {
	t      *testing.T
	client *http.Client
	server string
	last   *url.URL // the page that the person sees
}

func newBrowser(t *testing.T, server string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, server, nil}
}

// send gets a page, or sends a form to it, and returns what the person sees.
func (b *browser) send(target string, form url.Values) (status int, page string) {
	b.t.Helper()
	method := "GET"
	if form != nil {
		method = "POST"
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	b.last = response.Request.URL
	content, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// signIn signs the admin in, and gives an answer to what the program asks.
func (b *browser) signIn(asked, answer string) (page string) {
	b.t.Helper()
	b.send(b.server+"/signin", url.Values{"username": {"admin"}, "password": {"a-short-tour"}})
	if _, page := b.send(asked, nil); !strings.Contains(page, "Let sluice act for you?") {
		b.t.Fatalf("the person sees %s", page)
	}
	_, page = b.send(asked, url.Values{"answer": {answer}})
	return page
}

// asked returns the page that the program asks the person to visit.
func (p *person) asked() string {
	p.t.Helper()
	p.sees("or stop this")
	return regexp.MustCompile(`http://\S+`).FindString(p.screen())
}

// awaits waits for a file.
func (p *person) awaits(file string) {
	p.t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	late := time.After(patience)
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-pace.C:
		case <-late:
			p.t.Fatalf("there is no %s:\n%s", file, p.screen())
		}
	}
}

// TestLoginInABrowser: people at a machine with a browser type no password into
// a terminal.
func TestLoginInABrowser(t *testing.T) {
	t.Parallel()
	server := program(t, "serve", "--listen", "127.0.0.1:0")
	server.Env = append(server.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	r := start(t, server)

	t.Run("allowed", func(t *testing.T) {
		dir := t.TempDir()
		p := atTerminal(t, r.url, dir, []string{"BROWSER=true"}, "login")
		asked := p.asked()
		u, err := url.Parse(asked)
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(t, r.url)
		callback := u.Query().Get("redirect_uri")
		for _, stranger := range []string{"?code=x&state=y", "?code=x", "", "/more?state=" + u.Query().Get("state")} {
			if status, page := b.send(callback+stranger, nil); status != 404 || strings.Contains(page, "logged in") {
				t.Errorf("%s is answered %d %s", stranger, status, page)
			}
		}
		if page := b.signIn(asked, "allow"); !strings.Contains(page, "You are logged in.") {
			t.Errorf("at the end the person sees %s", page)
		}
		p.sees("Logged in at " + r.url + " as admin (profile default).")
		p.ends(0)
		p = atTerminal(t, "", dir, nil, "command", "iam.whoami")
		p.sees("admin")
		p.ends(0)
		p = atTerminal(t, "", dir, nil, "logout")
		p.sees("Logged out")
		p.ends(0)
	})

	t.Run("refused", func(t *testing.T) {
		p := atTerminal(t, r.url, t.TempDir(), []string{"BROWSER=true"}, "login")
		if page := newBrowser(t, r.url).signIn(p.asked(), "deny"); !strings.Contains(page, "You are not logged in") {
			t.Errorf("at the end the person sees %s", page)
		}
		p.sees("refused in the browser")
		p.ends(4)
	})

	t.Run("given up", func(t *testing.T) {
		// The key reaches the browser, too, so it is typed once there is one, which
		// does not mind.
		dir := t.TempDir()
		opener, opened := filepath.Join(dir, "browser"), filepath.Join(dir, "opened")
		if err := os.WriteFile(opener, []byte("#!/bin/sh\ntrap '' INT\n: > "+opened+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p := atTerminal(t, r.url, t.TempDir(), []string{"BROWSER=" + opener}, "login")
		p.asked()
		p.awaits(opened)
		p.types(controlC)
		p.ends(130)
	})

	for name, test := range map[string]struct{ environ, args []string }{
		"no browser that works":   {[]string{"BROWSER=false"}, []string{"login"}},
		"no such browser":         {[]string{"BROWSER=/nowhere/browser"}, []string{"login"}},
		"no display":              {nil, []string{"login"}},
		"at the other end of SSH": {[]string{"DISPLAY=:0", "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22"}, []string{"login"}},
		"not wanted":              {[]string{"BROWSER=true"}, []string{"login", "--no-browser"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := atTerminal(t, r.url, t.TempDir(), test.environ, test.args...)
			p.sees("Username: ")
			p.types("admin\n")
			p.sees("Password: ")
			p.isUnseen()
			p.types("a-short-tour\n")
			p.sees("Logged in at " + r.url + " as admin (profile default).")
			p.ends(0)
		})
	}
}

// TestLoginAtAnotherIssuer: where a company signs in, its people do, on the command line as well.
func TestLoginAtAnotherIssuer(t *testing.T) {
	t.Parallel()
	serve := func(settings ...string) string {
		server := program(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, settings...)...)
		server.Env = append(server.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
		return start(t, server).url
	}
	company := serve("--access-ttl", "5s") // no more than a client takes for fresh
	external := []string{"--auth-issuer", company + "/auth/realms/default", "--auth-client-id", "relay", "--auth-roles-claim", "roles"}
	ours := serve(append(external, "--auth-cli-client", "sluice")...)

	dir := t.TempDir()
	p := atTerminal(t, ours, dir, []string{"BROWSER=true"}, "login")
	if page := newBrowser(t, company).signIn(p.asked(), "allow"); !strings.Contains(page, "You are logged in.") {
		t.Errorf("at the end the person sees %s", page)
	}
	p.sees("Logged in at " + ours + " as admin (profile default).")
	p.ends(0)
	profile := filepath.Join(dir, "profiles", "default.json")
	for range 2 { // renewed each time
		p = atTerminal(t, "", dir, nil, "command", "iam.whoami")
		p.sees("admin")
		p.ends(0)
	}
	before, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	p = atTerminal(t, "", dir, nil, "logout")
	p.sees("Logged out")
	p.ends(0)
	if err := os.WriteFile(profile, before, 0o600); err != nil {
		t.Fatal(err)
	}
	p = atTerminal(t, "", dir, nil, "command", "iam.whoami")
	p.sees("has ended. Log in with sluice login.")
	p.ends(3)

	p = atTerminal(t, ours, t.TempDir(), nil, "login", "--no-browser")
	p.sees("has no page to enter a code on: log in on a machine with a browser, or get a token there and set SLUICE_TOKEN.")
	p.ends(5)
	p = atTerminal(t, ours, t.TempDir(), nil, "login", "--username", "ada")
	p.sees("sign in there with sluice login, without a name and a password")
	p.ends(3)
	if strings.Contains(p.screen(), "Password") {
		t.Errorf("a password is asked for, for nothing:\n%s", p.screen())
	}
	p = atTerminal(t, serve(external...), t.TempDir(), []string{"BROWSER=true"}, "login")
	p.sees("Ask its operator to set --auth-cli-client, or get a token there and set SLUICE_TOKEN.")
	p.ends(3)
}

// fillIn goes through the forms of Dex.
func (b *browser) fillIn(address string) {
	b.t.Helper()
	action := regexp.MustCompile(`<form method="post"(?: action="([^"]*)")?`)
	hidden := regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	at, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	var form url.Values
	code := at.Query()["user_code"]
	for range 6 {
		_, page := b.send(at.String(), form)
		next := action.FindStringSubmatch(page)
		if next == nil {
			return
		}
		if at, err = b.last.Parse(html.UnescapeString(next[1])); err != nil {
			b.t.Fatal(err)
		}
		form = url.Values{"login": {"anna@example.com"}, "password": {"dex-password"}, "user_code": code}
		for _, field := range hidden.FindAllStringSubmatch(page, -1) {
			if !form.Has(field[1]) { // of two forms the first is the one that goes on
				form.Set(field[1], html.UnescapeString(field[2]))
			}
		}
	}
	b.t.Fatal("Dex asks for more and more")
}

// TestLoginAtDex: an issuer that others wrote, in a browser here and with a code in one elsewhere.
func TestLoginAtDex(t *testing.T) {
	t.Parallel()
	issuer := oidctest.StartDex(t)
	server := program(t, "serve", "--listen", "127.0.0.1:0", "--auth-issuer", issuer, "--auth-client-id", "receiver",
		"--auth-roles-claim", "groups", "--auth-cli-client", "sluice-cli")
	r := start(t, server)
	for way, test := range map[string]struct {
		environ []string
		sign    func(p *person)
	}{
		"here": {[]string{"BROWSER=true"}, func(p *person) { newBrowser(t, r.url).fillIn(p.asked()) }},
		"elsewhere": {nil, func(p *person) {
			p.sees("and enter the code ")
			newBrowser(t, r.url).fillIn(regexp.MustCompile(`http://\S+`).FindString(p.screen())) // has the code in it
		}},
	} {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			p := atTerminal(t, r.url, dir, test.environ, "login")
			test.sign(p)
			p.sees("Logged in at " + r.url + " as anna@example.com (profile default).")
			p.ends(0)
			profiles := client.OpenProfiles(dir)
			login, err := profiles.Load("default")
			if err != nil || login.RefreshToken == "" {
				t.Fatalf("what is kept is %+v, %v", login, err)
			}
			login.Expires = time.Now()
			if err := profiles.Save(t.Context(), "default", login); err != nil {
				t.Fatal(err)
			}
			p = atTerminal(t, "", dir, nil, "command", "iam.whoami")
			p.sees("anna@example.com")
			p.ends(0)
			if renewed, err := profiles.Load("default"); err != nil || renewed.AccessToken == login.AccessToken || renewed.RefreshToken == "" {
				t.Errorf("renewed: %+v, %v", renewed, err)
			}
			p = atTerminal(t, "", dir, nil, "logout")
			p.sees("Logged out")
			p.ends(0)
		})
	}
}

// TestAPrivateCA: a server whose certificate no public CA signed is reached with --ca.
func TestAPrivateCA(t *testing.T) {
	t.Parallel()
	server := program(t, "serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	server.Env = append(server.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour")
	writeCertificate(t, server.Dir)
	r := start(t, server)
	certificate := filepath.Join(server.Dir, "cert.pem")
	account := []string{"SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour"}
	for name, test := range map[string]struct {
		environ, args []string
		sees          string
		code          int
	}{
		"not named":       {nil, nil, "--ca FILE names a private CA", 6},
		"by the flag":     {nil, []string{"--ca", certificate}, "username", 0},
		"by the variable": {[]string{"SLUICE_CA=" + certificate}, nil, "username", 0},
		"no such file":    {nil, []string{"--ca", "nothing.pem"}, "--ca: nothing.pem is no file with a certificate", 2},
		"no certificate":  {nil, []string{"--ca", filepath.Join(server.Dir, "key.pem")}, "is no file with a certificate", 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := atTerminal(t, r.url, t.TempDir(), append(test.environ, account...), append([]string{"command", "iam.whoami", "--json"}, test.args...)...)
			p.sees(test.sees)
			p.ends(test.code)
		})
	}
}
