package serve

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/config"
	"sluice/durable"
	"sluice/iam"
	"sluice/jetstream"
)

// SetAdminPassword sets the password of the admin, with the server stopped, and
// ends the logins of that user. Without a password it makes one up, and returns it.
func SetAdminPassword(ctx context.Context, cfg config.Config, password string, log *slog.Logger) (generated string, err error) {
	err = onStopped(cfg, log, func(opts jetstream.Options, _ *durable.Folder) error {
		engine, err := jetstream.OpenRecords(ctx, opts)
		if err != nil {
			return engineError(err)
		}
		defer engine.Close()
		if generated, err = iam.ResetAdmin(ctx, engine.Accounts(), password); err != nil {
			return err
		}
		if err := endSessions(ctx, engine, sluice.AdminName, ""); err != nil {
			return err
		}
		return engine.Audit().Record(ctx, sluice.AuditEntry{
			Time: time.Now().UTC(), Username: sluice.AdminName, Command: "admin.password", Target: sluice.AdminName, Outcome: sluice.AuditAllowed,
		})
	})
	return generated, err
}
