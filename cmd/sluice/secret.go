package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"sluice/cmd/sluice/exit"
	"sluice/config"
	"sluice/serve"
)

func (t *cli) secretPut(ctx context.Context) error {
	value, err := t.SecretValue(ctx, "Value of "+t.Args[0])
	if err != nil {
		return err
	}
	t.Params.Set("value", value)
	return t.Do(ctx, "Stored the secret %s.", t.Args[0])
}

func (t *cli) secretDelete(ctx context.Context) error {
	effect := "If webhooks or pipelines use it, it is refused."
	if t.On("force") {
		effect = t.Resource.Effect
	}
	return t.remove(ctx, effect)
}

// secretRekey works on the data folder, without a server.
func (t *cli) secretRekey(ctx context.Context) error {
	return t.onStopped(func(cfg config.Config, log *slog.Logger) error {
		key := os.Getenv("SLUICE_NEW_SECRET_KEY")
		if key == "" {
			return exit.Usage("SLUICE_NEW_SECRET_KEY is not set; openssl rand -base64 32 makes a key.")
		}
		err := serve.Rekey(ctx, cfg, key, log, func(step string) { fmt.Fprintln(t.Err, step) })
		if err != nil {
			return err
		}
		return t.Report(map[string]bool{"rekeyed": true}, "All is sealed with the new key. "+
			"Start the server with it from now on: SLUICE_SECRET_KEY, or --secret-key-file.")
	})
}
