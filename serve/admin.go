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

// CreateAdmin waits until the engine is set up, and creates the admin if there is none.
// created says whether it did; password is set if it was generated. The server is not ready
// before.
func (s *Server) CreateAdmin(ctx context.Context) (created bool, password string, err error) {
	select {
	case <-s.engine.SetUp():
	case <-ctx.Done():
		return false, "", ctx.Err()
	}
	if s.cfg.AuthIssuer == "" {
		created, password, err = iam.Bootstrap(ctx, s.engine.Accounts, s.opts.AdminPassword)
	}
	s.admin.Store(err == nil)
	return created, password, err
}

// checkAdminPassword rejects a weak first password if it is known that there is no admin.
// With an external engine that may be known later.
func (s *Server) checkAdminPassword(ctx context.Context) error {
	if s.cfg.AuthIssuer != "" {
		return nil
	}
	select {
	case <-s.engine.SetUp():
		return iam.CheckFirst(ctx, s.engine.Accounts, s.opts.AdminPassword)
	default:
		return nil
	}
}

// SetAdminPassword sets the password of the admin while the server is stopped, and ends
// the admin's logins. Without a password it generates one and returns it.
func SetAdminPassword(ctx context.Context, cfg config.Config, password string, log *slog.Logger) (generated string, err error) {
	err = onStopped(cfg, log, func(opts jetstream.Options, _ *durable.Folder) error {
		engine, err := jetstream.OpenRecords(ctx, opts)
		if err != nil {
			return engineError(err)
		}
		defer engine.Close()
		if generated, err = iam.ResetAdmin(ctx, engine.Accounts, password); err != nil {
			return err
		}
		if err := endSessions(ctx, engine, sluice.AdminName, ""); err != nil {
			return err
		}
		return engine.Audit.Record(ctx, sluice.AuditEntry{
			Time: time.Now().UTC(), Username: sluice.AdminName, Command: "admin.password", Target: sluice.AdminName, Outcome: sluice.AuditAllowed,
		})
	})
	return generated, err
}
