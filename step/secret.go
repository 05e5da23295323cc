package step

import (
	"context"
	"regexp"
	"unicode/utf8"

	"sluice"
	"sluice/command"
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
	Name string `json:"name" doc:"Its name."`
}

func secretPutCommand(secrets *Secrets) command.Command {
	return command.New("secret.put", "Store a secret for pipelines, replacing the one of that name if there is one.",
		func(ctx context.Context, p secretPutParams) (secretPut, error) {
			if !secretName.MatchString(p.Name) {
				return secretPut{},
					invalid("name", "must be 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit")
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

func showSecret(s *sluice.Secret) sluice.SecretView {
	return sluice.SecretView{Name: s.Name, Updated: s.Updated, LastUsed: s.Used}
}

type secretGetParams struct {
	Name string `json:"name" names:"secret" doc:"Name of the one secret to show. Without it all are listed."`

	command.Filter `things:"secrets" by:"name"`
}

func secretGetCommand(secrets *Secrets, usersOf func(string) sluice.SecretUsers) command.Command {
	return command.New("secret.get",
		"List the secrets, or show the one of that name: when it was changed and used, and by what; values are never "+
			"shown.",
		func(ctx context.Context, p secretGetParams) (any, error) {
			if p.Name == "" {
				return command.PageOf(secrets.all(ctx),
					func(s *sluice.Secret) string { return s.Name }, showSecret, p.Filter), nil
			}
			record, err := secrets.find(ctx, p.Name)
			if err != nil {
				return nil, err
			}
			view := showSecret(record)
			if users := showUsers(usersOf(p.Name), sluice.UserFrom(ctx)); !isUnused(users) {
				view.UsedBy = &users
			}
			return view, nil
		},
		command.Lists[sluice.SecretView], command.Missing(secrets.missing))
}

type secretDeleteParams struct {
	Name  string `json:"name" audit:"yes" names:"secret" required:"true" doc:"Name of the secret to delete."`
	Force bool   `json:"force" doc:"Delete it although webhooks or pipelines use it."`
}

func secretDeleteCommand(secrets *Secrets, usersOf func(string) sluice.SecretUsers) command.Command {
	return command.Removing("secret.delete",
		"Delete a secret. It is refused while webhooks or pipelines use it, unless that is wanted: they fail without "+
			"it, "+
			"except webhooks that have another one.",
		func(ctx context.Context, p secretDeleteParams) (string, error) {
			if !p.Force {
				if _, err := secrets.find(ctx, p.Name); err != nil { // a source may name one that was never there
					return "", err
				}
				if users := showUsers(usersOf(p.Name), sluice.UserFrom(ctx)); !isUnused(users) {
					return "", inUse(p.Name, users)
				}
			}
			return p.Name, secrets.Delete(ctx, p.Name)
		}, command.Missing(secrets.missing))
}
