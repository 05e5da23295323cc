package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/spelling"
	"sluice/value"
)

// A Login is a server, and a person's tokens there.
type Login struct {
	URL          string    `json:"url"`
	Username     string    `json:"username"`
	Issuer       string    `json:"issuer"`              // path of the issuer of tokens at the server, or the URL of another
	Client       string    `json:"client,omitempty"`    // of the command line at another issuer
	TokenURL     string    `json:"tokenUrl,omitempty"`  // of another issuer
	RevokeURL    string    `json:"revokeUrl,omitempty"` // of another issuer; "": it has none
	RefreshToken string    `json:"refreshToken"`
	AccessToken  string    `json:"accessToken"`
	Expires      time.Time `json:"expires"` // of the access token
}

// keep stores new tokens that were asked for then.
func (l *Login) keep(t tokens, asked time.Time) {
	l.AccessToken, l.RefreshToken = t.Access, cmp.Or(t.Refresh, l.RefreshToken) // some issuers give it once
	l.Expires = asked.Add(time.Duration(t.ExpiresIn) * time.Second).UTC()
}

// usable reports whether the access token is valid long enough for another call, and not the one
// that was refused.
func (l *Login) usable(refused string) bool {
	const margin = 5 * time.Second
	return l.AccessToken != "" && time.Until(l.Expires) > margin && l.bearer() != refused
}

// bearer returns the value of the header.
func (l *Login) bearer() string { return "Bearer " + l.AccessToken }

// defaultProfile is the profile that a first login makes.
const defaultProfile = "default"

// Profiles is a folder with the logins of a person, each under a name. Nobody
// else can read it.
type Profiles struct {
	dir string
}

// OpenProfiles returns the profiles in a folder, which need not exist yet.
func OpenProfiles(dir string) *Profiles { return &Profiles{dir} }

var validProfile = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkProfile(name string) error {
	if validProfile.MatchString(name) {
		return nil
	}
	return usage("The name of a profile is 1 to 64 letters, digits, dots, _ and -, beginning with a letter or digit.")
}

func (p *Profiles) file(name string) string { return filepath.Join(p.dir, "profiles", name+".json") }

// Load returns the login of a profile, NotFound if there is none.
func (p *Profiles) Load(name string) (Login, error) {
	if err := checkProfile(name); err != nil {
		return Login{}, err
	}
	content, err := os.ReadFile(p.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		names, _ := p.Names() // without names there is no suggestion
		hint := spelling.Hint(name, names, "sluice profile lists those there are.")
		return Login{}, sluice.CodeProfileUnknown.Errorf(
			"There is no profile %s; sluice login --profile %s makes it; %s", name, name, hint)
	}
	if err != nil {
		return Login{}, storage(err)
	}
	var login Login
	if err := json.Unmarshal(content, &login); err != nil {
		return Login{}, sluice.CodeProfileUnreadable.Errorf(
			"The profile %s can't be read; make it again with sluice login --profile %s.", name, name).Because(err)
	}
	return login, nil
}

// Save stores the login of a profile, so that it survives a power cut, and makes
// the profile the current one.
func (p *Profiles) Save(ctx context.Context, name string, login Login) error {
	if err := checkProfile(name); err != nil {
		return err
	}
	unlock, err := lock(ctx, p.file(name))
	if err != nil {
		return err
	}
	defer unlock()
	if err := writeJSON(p.file(name), login); err != nil {
		return err
	}
	return p.Use(name)
}

// Delete deletes a profile, without telling its server.
func (p *Profiles) Delete(name string) error {
	if _, err := p.Load(name); sluice.NotFound.Is(err) {
		return err
	}
	if err := os.Remove(p.file(name)); err != nil {
		return storage(err)
	}
	if p.Current() == name {
		return write(filepath.Join(p.dir, "current"), []byte(defaultProfile+"\n"))
	}
	return nil
}

// Names lists the profiles.
func (p *Profiles) Names() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(p.dir, "profiles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storage(err)
	}
	names := []string{}
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok && validProfile.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Current returns the profile that is used if none is named.
func (p *Profiles) Current() string {
	content, err := os.ReadFile(filepath.Join(p.dir, "current"))
	name := strings.TrimSpace(string(content))
	if err != nil || !validProfile.MatchString(name) {
		return defaultProfile
	}
	return name
}

// Use makes a profile the current one.
func (p *Profiles) Use(name string) error {
	if _, err := p.Load(name); err != nil {
		return err
	}
	return write(filepath.Join(p.dir, "current"), []byte(name+"\n"))
}

// writeJSON writes a document in the folder of profiles.
func writeJSON(name string, document any) error {
	content, err := value.MarshalIndent(document)
	if err != nil {
		return err
	}
	return write(name, append(content, '\n'))
}

// write writes a file in the folder of profiles, whole or not at all.
func write(name string, content []byte) error {
	if err := durable.MakeFolder(filepath.Dir(name)); err != nil {
		return storage(err)
	}
	return storage(durable.WriteFile(name, content))
}

// storage is the error for a folder of profiles that can't be used.
func storage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the folder of profiles can't be used: %w", err)
}
