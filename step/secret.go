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

func (o Options) putSecret(ctx context.Context, p secretPutParams) (secretPut, error) {
	if !secretName.MatchString(p.Name) {
		return secretPut{},
			invalid("name", "must be 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit")
	}
	if p.Value == "" || len(p.Value) > maxSecretValue || !utf8.ValidString(p.Value) {
		return secretPut{}, invalid("value", "must be UTF-8 text of 1 byte to 64 KiB")
	}
	if err := o.Secrets.Put(ctx, p.Name, p.Value); err != nil {
		return secretPut{}, err
	}
	return secretPut{Name: p.Name}, nil
}

func showSecret(s *sluice.Secret) sluice.SecretView {
	return sluice.SecretView{Name: s.Name, Updated: s.Updated, LastUsed: s.Used}
}

type secretGetParams struct {
	Name string `json:"name" names:"secret" doc:"Name of the one secret to show. Without it all are listed."`

	command.Filter `things:"secrets" by:"name"`
}

func (o Options) getSecret(ctx context.Context, p secretGetParams) (any, error) {
	if p.Name == "" {
		return command.PageOf(o.Secrets.all(ctx),
			func(s *sluice.Secret) string { return s.Name }, showSecret, p.Filter), nil
	}
	record, err := o.Secrets.find(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	view := showSecret(record)
	if users := showUsers(o.UsersOf(p.Name), sluice.UserFrom(ctx)); !isUnused(users) {
		view.UsedBy = &users
	}
	return view, nil
}

type secretDeleteParams struct {
	Name  string `json:"name" audit:"yes" names:"secret" required:"true" doc:"Name of the secret to delete."`
	Force bool   `json:"force" doc:"Delete it although webhooks or pipelines use it."`
}

func (o Options) deleteSecret(ctx context.Context, p secretDeleteParams) (string, error) {
	if !p.Force {
		if _, err := o.Secrets.find(ctx, p.Name); err != nil { // a source may name one that was never there
			return "", err
		}
		if users := showUsers(o.UsersOf(p.Name), sluice.UserFrom(ctx)); !isUnused(users) {
			return "", inUse(p.Name, users)
		}
	}
	return p.Name, o.Secrets.Delete(ctx, p.Name)
}
