package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice"
	"sluice/client"
)

// defaultURL is the address of a server that was started without settings.
const defaultURL = "http://127.0.0.1:8080"

// A terminal is what all verbs share: the flags that choose the server and the form
// of the output, and the person's terminal, if there is one.
type terminal struct {
	url     string
	profile string
	format  string
	json    bool

	showTokens bool
	commands   []client.Command // as this program declares them, or a server that was asked

	in       *os.File
	out, err *os.File

	release    func() // lets the next interrupt kill the program
	begun      bool   // the command line was understood
	helpFailed error
}

// addFlags gives a verb the flags that all clients have.
func (t *terminal) addFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&t.url, "url", "", "URL of the server (SLUICE_URL; default: that of the profile)")
	flags.StringVar(&t.profile, "profile", "", "name of the stored login to use (SLUICE_PROFILE; default: the current one)")
	flags.BoolVar(&t.showTokens, "show-token", false, "show the tokens of webhooks in tables")
	complete(cmd, "profile", t.completeProfiles)
	t.addForm(cmd)
}

// addForm gives a verb the flags for the form of its output.
func (t *terminal) addForm(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVarP(&t.format, "output", "o", "", "form of the output: table, json or yaml (default: table on a terminal, otherwise json)")
	flags.BoolVar(&t.json, "json", false, "the same as -o json")
	complete(cmd, "output", cobra.FixedCompletions(forms, noFiles))
}

// begin is called when the command line was understood.
func (t *terminal) begin(cmd *cobra.Command) {
	t.begun = true
	if cmd.Name() == "serve" {
		return // it takes its time to stop; see interrupts
	}
	context.AfterFunc(cmd.Context(), func() {
		t.release()
		// No context ends a write to a pipe that nobody reads, for one.
		time.AfterFunc(lastGrace, func() { os.Exit(exitInterrupted) })
	})
}

// lastGrace is how long the program may take to end once it was interrupted.
const lastGrace = 3 * time.Second

// profiles returns the person's logins.
func (t *terminal) profiles() (*client.Profiles, error) {
	dir := os.Getenv("SLUICE_CLIENT_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return nil, usage("There is no folder for the settings of users (%v); set SLUICE_CLIENT_DIR.", err)
		}
		dir = filepath.Join(base, "sluice")
	}
	return client.OpenProfiles(dir), nil
}

// profileName returns the chosen profile.
func (t *terminal) profileName(profiles *client.Profiles) string {
	return cmp.Or(t.profile, os.Getenv("SLUICE_PROFILE"), profiles.Current())
}

// connected makes a verb from a function that needs a client of the server.
func (t *terminal) connected(run func(cmd *cobra.Command, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := t.connect()
		if err != nil {
			return err
		}
		return run(cmd, c, args)
	}
}

// connect returns a client of the chosen server. Its credentials are the login of
// the profile that --profile names, otherwise those in variables, otherwise the
// login of the current profile.
func (t *terminal) connect() (*client.Client, error) {
	profiles, err := t.profiles()
	if err != nil {
		return nil, err
	}
	name := t.profileName(profiles)
	login, loadErr := profiles.Load(name)
	named := t.profile != "" || os.Getenv("SLUICE_PROFILE") != ""
	if loadErr != nil && (named || sluice.AsError(loadErr).Kind != sluice.NotFound) {
		return nil, loadErr
	}
	server := cmp.Or(t.url, os.Getenv("SLUICE_URL"), login.URL, defaultURL)
	if server, err = client.CleanURL(server); err != nil {
		return nil, err
	}
	if t.profile == "" {
		credentials, err := fromEnvironment(server)
		if err != nil {
			return nil, err
		}
		if credentials != nil {
			return client.New(server, credentials)
		}
	}
	if login.URL != server { // a token is for the server it came from
		return client.New(server, notLoggedIn(server))
	}
	return client.New(server, &client.Session{Profiles: profiles, Profile: name})
}

// fromEnvironment returns the credentials that variables hold, nil if none do.
func fromEnvironment(server string) (client.Credentials, error) {
	username, password := os.Getenv("SLUICE_USERNAME"), os.Getenv("SLUICE_PASSWORD")
	id, secret := os.Getenv("SLUICE_CLIENT_ID"), os.Getenv("SLUICE_CLIENT_SECRET")
	switch {
	case os.Getenv("SLUICE_TOKEN") != "":
		return client.Token(os.Getenv("SLUICE_TOKEN")), nil
	case (id == "") != (secret == ""):
		return nil, usage("Only one of SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET is set; set both.")
	case id != "":
		return &client.Machine{Server: server, ID: id, Secret: secret}, nil
	case password != "" && username == "":
		return nil, usage("SLUICE_PASSWORD is set and SLUICE_USERNAME is not; set both.")
	case password != "":
		return client.Password(username, password), nil
	}
	return nil, nil
}

// notLoggedIn are credentials that fail, for a person who has none.
type notLoggedIn string

// Authorization implements client.Credentials.
func (n notLoggedIn) Authorization(context.Context, string) (string, error) {
	return "", sluice.Errorf(sluice.CodeNotLoggedIn, "You are not logged in at %s. Log in with sluice login --url %s.", string(n), string(n))
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func colours(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(stream)
}

// read returns the content of a file, or of standard input for -.
func (t *terminal) read(name string) ([]byte, error) {
	var content []byte
	var err error
	if name == "-" {
		content, err = io.ReadAll(t.in)
	} else {
		content, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	return content, nil
}

// pairs reads arguments of the form key=value, key=@file and key=@@value.
func (t *terminal) pairs(args []string) (map[string][]string, error) {
	values := make(map[string][]string)
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usage("%q is not of the form key=value.", arg)
		}
		value, err := t.value(value)
		if err != nil {
			return nil, err
		}
		values[key] = append(values[key], value)
	}
	return values, nil
}

// value returns a value as typed, or the content of a file for @file. @@x means @x.
func (t *terminal) value(text string) (string, error) {
	file, isFile := strings.CutPrefix(text, "@")
	if !isFile || strings.HasPrefix(file, "@") {
		return file, nil
	}
	content, err := t.read(file)
	return string(content), err
}

func (t *terminal) addOpen(cmd *cobra.Command, open *bool) {
	cmd.Flags().BoolVar(open, "open", false, "open the page about it in a browser; without one its URL is printed")
}

// open opens a page of the portal, or prints its URL where there is no browser.
func (t *terminal) open(ctx context.Context, c *client.Client, page string, item ...string) error {
	path := make([]string, 1, 1+len(item))
	path[0] = c.URL() + page
	for _, part := range item {
		path = append(path, url.PathEscape(part))
	}
	target := strings.Join(path, "/")
	if browser := browserCommand(runtime.GOOS); browser != nil {
		fmt.Fprintf(t.err, "Opening %s\n", target)
		if _, err := startBrowser(ctx, browser, target); err == nil {
			return nil
		}
	}
	_, err := fmt.Fprintln(t.out, target)
	return err
}

// startBrowser opens a page in a browser, which outlives ctx.
func startBrowser(ctx context.Context, browser []string, target string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), browser[0], append(browser[1:], target)...) //nolint:gosec // the person's own browser
	return cmd, cmd.Start()
}

// browserHere returns the command of a browser that can reach a port of this machine.
// In a session by SSH there is none, unless the person names one.
func browserHere() []string {
	if os.Getenv("BROWSER") == "" && (os.Getenv("SSH_CONNECTION") != "" || os.Getenv("SSH_TTY") != "") {
		return nil
	}
	return browserCommand(runtime.GOOS)
}

// browserCommand returns the command that starts a browser, nil without a display.
func browserCommand(system string) []string {
	switch own := strings.Fields(os.Getenv("BROWSER")); {
	case len(own) > 0:
		return own
	case system == "darwin":
		return []string{"open"}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}
