package step

import (
	"context"
	"regexp"
	"unicode/utf8"

	"sluice/command"
)

const (
	maxSecretName  = 128
	maxSecretValue = 64 << 10
)

var secretName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

type secretPutParams struct {
	Name  string `json:"name" audit:"yes" required:"true" doc:"Name of the secret: 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit."`
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
