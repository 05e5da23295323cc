package main

import (
	"context"
	"log/slog"
	"os"

	"sluice"
	"sluice/config"
	"sluice/serve"
)

func (t *cli) adminPassword(ctx context.Context) error {
	return t.onStopped(func(cfg config.Config, log *slog.Logger) (err error) {
		password := os.Getenv("SLUICE_ADMIN_PASSWORD")
		if password == "" {
			if password, err = t.SecretValue(ctx, "New password of "+sluice.AdminName+
				" (empty: one is made up)"); err != nil {
				return err
			}
		}
		generated, err := serve.SetAdminPassword(ctx, cfg, password, log)
		if err != nil {
			return err
		}
		done := map[string]string{"username": sluice.AdminName}
		if generated == "" {
			return t.Report(done, "The user %s has the new password. Start the server again.", sluice.AdminName)
		}
		done["password"] = generated
		return t.Report(done, "The user %s has the password %s (shown this once). Start the server again.",
			sluice.AdminName, generated)
	})
}
