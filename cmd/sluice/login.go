package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
)

func (t *cli) login(ctx context.Context) error {
	username := cmp.Or(t.Text("username"), os.Getenv("SLUICE_USERNAME"))
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	name := t.ProfileName(profiles)
	before, err := profiles.Load(name)
	if sluice.Invalid.Is(err) {
		return err // the name is wrong
	}
	given := t.Text("url")
	if len(t.Args) > 0 {
		given = t.Args[0]
	}
	c, err := t.chooseServer(ctx, given, cmp.Or(before.URL, terminal.DefaultURL))
	if err != nil {
		return err
	}
	t.warnOfPlainHTTP(c.URL())
	var login client.Login
	switch {
	case username != "" || os.Getenv("SLUICE_PASSWORD") != "":
		login, err = t.loginByPassword(ctx, c, username, before.Username)
	case t.On("no-browser") || !t.Asks() || terminal.BrowserHere() == nil:
		login, err = t.loginElsewhere(ctx, c, before.Username)
	default:
		login, err = t.loginInBrowser(ctx, c, before.Username)
	}
	if err != nil {
		return err
	}
	profile := "profile " + name
	if name != profiles.Current() {
		profile += ", now the current one"
	}
	if err := profiles.Save(ctx, name, login); err != nil {
		return err
	}
	if before.RefreshToken != "" {
		if replaced, err := client.New(before.URL, nil); err == nil {
			_ = replaced.Logout(ctx, before) // if that fails, it expires one day
		}
	}
	return t.Report(stored{name, login.URL, login.Username, true}, "Logged in at %s as %s (%s).", login.URL,
		cmp.Or(login.Username, "a user who needs a role to see more: ask an administrator"), profile)
}

// loginByPassword asks for the name and the password that were not given.
func (t *cli) loginByPassword(
	ctx context.Context, c *client.Client, given, fallback string,
) (client.Login, error) {
	return c.Login(ctx, func() (username, password string, err error) {
		if username, err = t.askUnlessGiven(ctx, "Username", given, fallback); err != nil {
			return "", "", err
		}
		if password = os.Getenv("SLUICE_PASSWORD"); password != "" {
			return username, password, nil
		}
		if !t.Asks() {
			return "", "", exit.Usage("This is not a terminal to ask for a password on; set SLUICE_PASSWORD.")
		}
		password, err = t.AskSecret(ctx, "Password: ")
		return username, password, err
	})
}

// loginElsewhere lets the person sign in in a browser of another machine. At a server that has no
// page for that, it asks for the password.
func (t *cli) loginElsewhere(ctx context.Context, c *client.Client, fallback string) (client.Login, error) {
	device, err := c.Device(ctx)
	if err != nil {
		if errors.Is(err, client.ErrOwnIssuer) {
			return t.loginByPassword(ctx, c, "", fallback)
		}
		return client.Login{}, err
	}
	fmt.Fprintf(t.Err, "On a machine with a browser, visit\n\n  %s\n\nand enter the code %s\n", device.URL, device.Code)
	return device.Wait(ctx)
}

// errNoBrowser means that the person has no browser after all.
var errNoBrowser = errors.New("no browser")

// loginInBrowser lets the person sign in in a browser. If that is impossible, it asks
// for the password.
func (t *cli) loginInBrowser(ctx context.Context, c *client.Client, fallback string) (client.Login, error) {
	signIn, err := c.SignIn(ctx)
	if err != nil {
		if sluice.NotFound.Is(err) {
			return t.loginElsewhere(ctx, c, fallback)
		}
		return client.Login{}, err
	}
	fmt.Fprintf(t.Err, "Sign in in the browser. If none opens, visit\n\n  %s\n\nor stop this and use --no-browser.\n",
		signIn.URL)
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		browser, err := terminal.StartBrowser(ctx, terminal.BrowserHere(), signIn.URL)
		if err != nil || browser.Wait() != nil {
			giveUp(errNoBrowser)
		}
	}()
	login, err := signIn.Wait(waiting)
	if err != nil && errors.Is(context.Cause(waiting), errNoBrowser) {
		t.Sayf("No browser could be opened.")
		return t.loginElsewhere(ctx, c, fallback)
	}
	return login, err
}

// chooseServer returns a client of the server to log in at. It asks again if a person
// mistypes the URL.
func (t *cli) chooseServer(ctx context.Context, given, fallback string) (*client.Client, error) {
	for given = cmp.Or(given, os.Getenv("SLUICE_URL")); ; given = "" {
		address, err := t.askUnlessGiven(ctx, "Server", given, fallback)
		if err != nil {
			return nil, err
		}
		c, err := client.New(address, nil)
		if err == nil || !t.Asks() {
			return c, err
		}
		t.Sayf("%s", exit.Explain(err))
	}
}

// askUnlessGiven returns the value that was given, or asks for it.
func (t *cli) askUnlessGiven(ctx context.Context, what, given, fallback string) (string, error) {
	if given != "" {
		return given, nil
	}
	if !t.Asks() {
		if what == "Server" {
			return fallback, nil
		}
		return "", exit.Usage("This is not a terminal to ask for a %s on; give --%s.", strings.ToLower(what),
			strings.ToLower(what))
	}
	question := what + ": "
	if fallback != "" {
		question = fmt.Sprintf("%s [%s]: ", what, fallback)
	}
	answer, err := t.Ask(ctx, question)
	return cmp.Or(answer, fallback), err
}

func (t *cli) warnOfPlainHTTP(server string) {
	u, err := url.Parse(server)
	if err == nil && u.Scheme == "http" && !sluice.IsLoopback(u.Hostname()) {
		t.Sayf("warning: plain HTTP: the password can be read on the way; use https where the server has it")
	}
}

func (t *cli) logout(ctx context.Context) error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	name := t.ProfileName(profiles)
	login, err := profiles.Load(name)
	if err != nil {
		return err
	}
	c, err := client.New(login.URL, nil)
	if err != nil {
		return err
	}
	if err := c.Logout(ctx, login); err != nil {
		e := sluice.AsError(err)
		return e.Saying(e.Message + " The login is still stored; sluice profile delete " + name +
			" deletes it without telling the server.")
	}
	if err := profiles.Delete(name); err != nil {
		return err
	}
	return t.Report(stored{name, login.URL, login.Username, false}, "Logged out at %s (profile %s).", login.URL, name)
}
