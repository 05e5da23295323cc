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

// CreateAdmin waits until the engine is set up, and creates the admin if there
// is none: created says so, with the password if it had to make one up. The
// server is not ready before.
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

// checkAdminPassword refuses a first password that is too weak, as soon as it is
// known that there is no admin: with an external engine that may be later.
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

// SetAdminPassword sets the password of the admin, with the server stopped, and
// ends the logins of that user. Without a password it makes one up, and returns it.
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
