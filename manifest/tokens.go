package manifest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
	"sluice/durable"
)

// Tokens are the open tokens of webhooks, by event key, which belong in a file of their own.
type Tokens map[string]tokens

type tokens struct {
	UUID    string    `yaml:"uuid"`
	Open    bool      `yaml:"open"`
	Expires time.Time `yaml:"expires,omitempty"`
	Further []token   `yaml:"further,omitempty"`
}

type token struct {
	Token       string    `yaml:"token"`
	Expires     time.Time `yaml:"expires,omitempty"`
	Description string    `yaml:"description,omitempty"`
}

const fileHead = "# The tokens of webhooks, which are secret: sluice apply DIR --tokens FILE gives a new server the " +
	"same URLs.\n"

// outside refuses a file of tokens in the folder that is kept under version control.
func outside(dir, file string) error {
	folder, err := absolute(dir)
	if err != nil {
		return mistake("%v", err)
	}
	place, err := absolute(filepath.Dir(file))
	if err != nil {
		return mistake("%v", err)
	}
	if within, err := filepath.Rel(folder, place); err == nil && within != ".." &&
		!strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return mistake("%s is in %s, whose files may be seen by others, and tokens are secret; choose a place outside.",
			file, dir)
	}
	return nil
}

// absolute returns where a path leads to.
func absolute(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// ExportTokens writes the open tokens of all webhooks to a file that nobody else can read. It
// must not be in the folder of the other files.
func ExportTokens(ctx context.Context, c *client.Client, dir, file string) error {
	if err := outside(dir, file); err != nil {
		return err
	}
	var hooks []sluice.WebhookView
	if err := c.Decode(ctx, "webhook.get", nil, nil, &hooks); err != nil {
		return err
	}
	all := make(Tokens, len(hooks))
	for _, h := range hooks {
		kept := tokens{UUID: h.UUID}
		for _, t := range h.Tokens {
			switch {
			case t.Token == "":
				return sluice.NotPermitted(sluice.MaySeeTokens)
			case !t.Open:
			case t.Token == h.UUID:
				kept.Open, kept.Expires = true, t.Expires
			default:
				kept.Further = append(kept.Further, token{t.Token, t.Expires, t.Description})
			}
		}
		all[h.EventKey] = kept
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, append([]byte(fileHead), text...)); err != nil {
		return mistake("%v", err)
	}
	return nil
}

// ReadTokens reads what ExportTokens wrote.
func ReadTokens(dir, file string) (Tokens, error) {
	if err := outside(dir, file); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, mistake("%v", err)
	}
	var all Tokens
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, mistake("%s: %v", file, err)
	}
	for key, kept := range all {
		for _, t := range append(kept.Further, token{Token: kept.UUID}) {
			if !sluice.IsToken(t.Token) {
				return nil, mistake("%s: a token of %s is no UUID; sluice export DIR --tokens FILE writes such a file.",
					file, key)
			}
		}
	}
	return all, nil
}

// missing returns the tokens that a webhook of the server, if there is one, lacks.
func (kept tokens) missing(of *thing, now time.Time) (further []token) {
	wanted := kept.Further
	if of != nil && kept.Open { // a new one gets the uuid itself
		wanted = append([]token{{Token: kept.UUID, Expires: kept.Expires}}, wanted...)
	}
	for _, t := range wanted {
		if (t.Expires.IsZero() || t.Expires.After(now)) && (of == nil || !of.open[t.Token]) {
			further = append(further, t)
		}
	}
	return further
}

// closes reports whether the first token of the webhook must be closed, as it was where the
// file was written.
func (kept tokens) closes(of *thing) bool {
	return !kept.Open && (of == nil || of.token == kept.UUID && of.open[kept.UUID])
}

// open gives a stored webhook its tokens.
func (ch *Change) open(ctx context.Context) error {
	server := ch.after.resource.server
	for _, t := range ch.further {
		params := url.Values{"eventKey": {ch.Name}, "token": {t.Token}, "description": {t.Description}}
		if !t.Expires.IsZero() {
			params.Set("expires", t.Expires.Format(time.RFC3339Nano))
		}
		if _, err := server.Command(ctx, "webhook.token.add", params, nil); err != nil {
			return ch.after.blame(err)
		}
	}
	if !ch.closes {
		return nil
	}
	_, err := server.Command(ctx, "webhook.token.delete", url.Values{"eventKey": {ch.Name}, "token": {ch.uuid}}, nil)
	return ch.after.blame(err)
}
