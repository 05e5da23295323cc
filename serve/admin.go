package serve

import (
	"context"

	"sluice/iam"
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
		created, password, err = iam.Bootstrap(ctx, s.engine.Accounts(), s.opts.AdminPassword)
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
		return iam.CheckFirst(ctx, s.engine.Accounts(), s.opts.AdminPassword)
	default:
		return nil
	}
}
