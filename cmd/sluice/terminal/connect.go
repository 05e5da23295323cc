package terminal

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
)

// DefaultURL is the address of a server that was started without settings.
const DefaultURL = "http://127.0.0.1:8080"

// Profiles returns the person's logins.
func (t *Terminal) Profiles() (*client.Profiles, error) {
	dir := os.Getenv("SLUICE_CLIENT_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return nil, exit.Usage("There is no folder for the settings of users (%v); set SLUICE_CLIENT_DIR.", err)
		}
		dir = filepath.Join(base, "sluice")
	}
	return client.OpenProfiles(dir), nil
}

// ProfileName returns the chosen profile.
func (t *Terminal) ProfileName(profiles *client.Profiles) string {
	return cmp.Or(t.Text("profile"), os.Getenv("SLUICE_PROFILE"), profiles.Current())
}

// Connect makes the client of the chosen server. Its credentials are the login of
// the profile that --profile names, otherwise those in variables, otherwise the
// login of the current profile.
func (t *Terminal) Connect() error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	name := t.ProfileName(profiles)
	login, err := profiles.Load(name)
	named := t.Text("profile") != "" || os.Getenv("SLUICE_PROFILE") != ""
	if err != nil && (named || !sluice.NotFound.Is(err)) {
		return err
	}
	server, err := client.CleanURL(cmp.Or(t.Text("url"), os.Getenv("SLUICE_URL"), login.URL, DefaultURL))
	if err != nil {
		return err
	}
	var credentials client.Credentials
	if t.Text("profile") == "" {
		if credentials, err = fromEnvironment(server); err != nil {
			return err
		}
	}
	switch {
	case credentials != nil:
	case login.URL == server:
		credentials = &client.Session{Profiles: profiles, Profile: name}
	default: // a token is for the server it came from
		credentials = notLoggedIn(server)
	}
	t.Server, err = client.New(server, credentials)
	return err
}

// fromEnvironment returns the credentials that variables hold, nil if none do.
func fromEnvironment(server string) (client.Credentials, error) {
	username, password := os.Getenv("SLUICE_USERNAME"), os.Getenv("SLUICE_PASSWORD")
	id, secret := os.Getenv("SLUICE_CLIENT_ID"), os.Getenv("SLUICE_CLIENT_SECRET")
	switch {
	case os.Getenv("SLUICE_TOKEN") != "":
		return client.Token(os.Getenv("SLUICE_TOKEN")), nil
	case (id == "") != (secret == ""):
		return nil, exit.Usage("Only one of SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET is set; set both.")
	case id != "":
		return &client.Machine{Server: server, ID: id, Secret: secret}, nil
	case password != "" && username == "":
		return nil, exit.Usage("SLUICE_PASSWORD is set and SLUICE_USERNAME is not; set both.")
	case password != "":
		return client.Password(username, password), nil
	}
	return nil, nil
}

// notLoggedIn are credentials that fail, for a person who has none.
type notLoggedIn string

// Authorization implements client.Credentials.
func (n notLoggedIn) Authorization(context.Context, string) (string, error) {
	return "", sluice.CodeNotLoggedIn.Errorf("You are not logged in at %s. Log in with sluice login --url %s.",
		string(n), string(n))
}
