package step

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/command"
	"sluice/spelling"
)

const (
	maxSecretName  = 128
	maxSecretValue = 64 << 10
)

var secretName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

type secretPutParams struct {
	Name  string `json:"name" audit:"yes" names:"new secret" required:"true" doc:"Name of the secret: 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit."`
	Value string `json:"value" required:"true" doc:"The secret itself, up to 64 KiB of text. It is stored encrypted and never shown."`
}

type secretPut struct {
	Name string `json:"name"`
}

func secretPutCommand(secrets *Secrets) command.Command {
	return command.New("secret.put", "Store a secret for pipelines, replacing the one of that name if there is one.",
		func(ctx context.Context, p secretPutParams) (secretPut, error) {
			if !secretName.MatchString(p.Name) {
				return secretPut{}, invalid("name", "must be 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit")
			}
			if p.Value == "" || len(p.Value) > maxSecretValue || !utf8.ValidString(p.Value) {
				return secretPut{}, invalid("value", "must be UTF-8 text of 1 byte to 64 KiB")
			}
			if err := secrets.Put(ctx, p.Name, p.Value); err != nil {
				return secretPut{}, err
			}
			return secretPut{Name: p.Name}, nil
		})
}

type secretView struct {
	Name     string    `json:"name"`
	Updated  time.Time `json:"updated"`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When a pipeline or a webhook used it last, to the minute."`

	UsedBy *SecretUsers `json:"usedBy,omitempty" doc:"What uses it; lists leave it out."`
}

func showSecret(s *sluice.Secret) secretView {
	return secretView{Name: s.Name, Updated: s.Updated, LastUsed: s.Used}
}

type secretGetParams struct {
	Name   string `json:"name" names:"secret" doc:"Name of the one secret to show. Without it all are listed."`
	Search string `json:"search" doc:"List only secrets whose name contains this."`
	Limit  int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After  string `json:"after" doc:"List only secrets whose name comes after this one."`
}

func secretGetCommand(secrets *Secrets, usersOf func(string) SecretUsers) command.Command {
	return command.New("secret.get", "List the secrets, or show the one of that name: when it was changed and used, and by what; values are never shown.",
		func(ctx context.Context, p secretGetParams) (any, error) {
			if p.Name != "" {
				record, err := secrets.find(ctx, p.Name)
				if err != nil {
					return nil, err
				}
				shown := showSecret(record)
				if users := usersOf(p.Name).shownTo(sluice.UserFrom(ctx)); !users.none() {
					shown.UsedBy = &users
				}
				return shown, nil
			}
			views := []secretView{}
			for _, secret := range secrets.all(ctx) {
				views = append(views, showSecret(secret))
			}
			return command.PageOf(views, func(v secretView) string { return v.Name }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Missing(secrets.missing), command.Answers([]secretView{}, secretView{}))
}

type secretDeleteParams struct {
	Name  string `json:"name" audit:"yes" names:"secret" required:"true" doc:"Name of the secret to delete."`
	Force bool   `json:"force" doc:"Delete it although webhooks or pipelines use it."`
}

type secretDeleted struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func secretDeleteCommand(secrets *Secrets, usersOf func(string) SecretUsers) command.Command {
	return command.New("secret.delete", "Delete a secret. It is refused while webhooks or pipelines use it, unless that is wanted: they fail without it, except webhooks that have another one.",
		func(ctx context.Context, p secretDeleteParams) (secretDeleted, error) {
			if !p.Force {
				if _, err := secrets.find(ctx, p.Name); err != nil { // a source may name one that was never there
					return secretDeleted{}, err
				}
				if users := usersOf(p.Name).shownTo(sluice.UserFrom(ctx)); !users.none() {
					return secretDeleted{}, users.inUse(p.Name)
				}
			}
			if err := secrets.Delete(ctx, p.Name); err != nil {
				return secretDeleted{}, err
			}
			return secretDeleted{Name: p.Name, Deleted: true}, nil
		}, command.Missing(secrets.missing))
}

// SecretUsers are the webhooks and pipelines that name a secret.
type SecretUsers struct {
	Webhooks  []string `json:"webhooks,omitempty" doc:"Event keys of the webhooks whose calls may be signed with it."`
	Pipelines []string `json:"pipelines,omitempty" doc:"Pipelines whose source names it."`
}

// shownTo hides names that a user may not read elsewhere, but not how many there are:
// the secret is not deleted while they use it.
func (u SecretUsers) shownTo(user sluice.User) SecretUsers {
	hooks, pipelines := user.CoverOf("webhook.get", true), user.CoverOf("pipeline.get", true)
	return SecretUsers{shownIf(hooks.Event, u.Webhooks), shownIf(pipelines.Name, u.Pipelines)}
}

func shownIf(covers func(string) bool, names []string) []string {
	shown := slices.Clone(names)
	for i, name := range names {
		if !covers(name) {
			shown[i] = "…"
		}
	}
	return shown
}

func (u SecretUsers) none() bool { return len(u.Webhooks)+len(u.Pipelines) == 0 }

// inUse is the error of deleting a secret that has users.
func (u SecretUsers) inUse(name string) error {
	var parts []string
	if len(u.Webhooks) > 0 {
		parts = append(parts, listed("webhook", u.Webhooks))
	}
	if len(u.Pipelines) > 0 {
		parts = append(parts, listed("pipeline", u.Pipelines))
	}
	return sluice.Errorf(sluice.CodeSecretInUse, "The secret %q is used by %s. Take it out there first; with force=true (--force) it is deleted all the same, and what has no other secret fails from then on.",
		name, strings.Join(parts, ", and by "))
}

// listed names up to three things, and how many more there are.
func listed(word string, names []string) string {
	const most = 3
	if len(names) > 1 {
		word += "s"
	}
	text := "the " + word + " " + strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Secrets keeps values for pipelines that nobody can read back.
type Secrets struct {
	records sluice.Records[sluice.Secret]
	used    func(name string)
}

// NewSecrets returns the secrets in a store, which must seal its records. used is called
// at each use.
func NewSecrets(records sluice.Records[sluice.Secret], used func(name string)) *Secrets {
	return &Secrets{records, used}
}

// Put stores a secret, and replaces the one of that name.
func (s *Secrets) Put(ctx context.Context, name, value string) error {
	_, err := s.records.Change(ctx, name, func(before *sluice.Secret, _ map[string]*sluice.Secret) (*sluice.Secret, error) {
		after := &sluice.Secret{Name: name, Value: value, Updated: time.Now().UTC()}
		if before != nil {
			after.Used = before.Used
		}
		return after, nil
	})
	return err
}

// Delete removes a secret, NotFound if there is none.
func (s *Secrets) Delete(ctx context.Context, name string) error {
	_, err := s.records.Change(ctx, name, func(before *sluice.Secret, _ map[string]*sluice.Secret) (*sluice.Secret, error) {
		if before == nil {
			return nil, s.unknown(ctx, name)
		}
		return nil, nil
	})
	return err
}

// Reveal returns the value of a secret for a look, which is no use: NotFound if there is
// none, or none that the user of ctx covers. The caller must hide it from people.
func (s *Secrets) Reveal(ctx context.Context, name string) (string, error) {
	record, err := s.find(ctx, name)
	if err != nil {
		return "", err
	}
	return record.Value, nil
}

// Use is Reveal for a use.
func (s *Secrets) Use(ctx context.Context, name string) (string, error) {
	value, err := s.Reveal(ctx, name)
	if err == nil {
		s.used(name)
	}
	return value, err
}

// find returns a secret, NotFound if there is none.
func (s *Secrets) find(ctx context.Context, name string) (*sluice.Secret, error) {
	record, err := s.records.Get(ctx, name)
	if err == nil && (record == nil || !sluice.CoverFrom(ctx).Name(name)) {
		err = s.unknown(ctx, name)
	}
	return record, err
}

// all returns the secrets that are covered.
func (s *Secrets) all(ctx context.Context) []*sluice.Secret {
	cover := sluice.CoverFrom(ctx)
	return slices.DeleteFunc(s.records.All(), func(secret *sluice.Secret) bool { return !cover.Name(secret.Name) })
}

func (s *Secrets) missing(ctx context.Context, _, name string) error { return s.unknown(ctx, name) }

// unknown is the error for an unknown name. It suggests a similar one.
func (s *Secrets) unknown(ctx context.Context, name string) error {
	all := s.all(ctx)
	names := make([]string, len(all))
	for i, record := range all {
		names[i] = record.Name
	}
	hint := "secret.put stores one."
	if near := spelling.Nearest(name, names); near != "" {
		hint = "Did you mean " + near + "?"
	}
	return sluice.Errorf(sluice.CodeSecretUnknown, "There is no secret %q. %s", cut(name, maxSecretName), hint)
}
