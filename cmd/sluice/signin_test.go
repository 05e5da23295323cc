//go:build linux

package main

import (
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
)

// A browser is what a person sees of the sign-in beside the terminal. The tests
// of the portal have a real one.
type browser struct {
	t      *testing.T
	client *http.Client
	server string
}

func newBrowser(t *testing.T, server string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, server}
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
