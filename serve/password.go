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
	if err := checkKey(cfg); err != nil {
		return "", err
	}
	opts := jetstream.Options{URL: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.NATSReplicas, Log: log}
	var folder *durable.Folder
	if cfg.NATS == "" {
		if folder, err = durable.OpenExisting(cfg.Data); err != nil {
			return "", err
		}
		defer folder.Close()
		opts.Dir, opts.Begin = folder.Store(), folder.Convert
	}
	opts.Box = boxOf(cfg, folder)
	engine, err := jetstream.OpenRecords(ctx, opts)
	if err != nil {
		return "", engineError(err)
	}
	defer engine.Close()
	if generated, err = iam.ResetAdmin(ctx, engine.Accounts(), password); err != nil {
		return "", err
	}
	if err := endSessions(ctx, engine, sluice.AdminName, ""); err != nil {
		return "", err
	}
	return generated, engine.Audit().Record(ctx, sluice.AuditEntry{
		Time: time.Now().UTC(), Username: sluice.AdminName, Command: "admin.password", Target: sluice.AdminName, Outcome: sluice.AuditAllowed,
	})
}
