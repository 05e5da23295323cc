package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/config"
	"sluice/durable"
	"sluice/iam"
	"sluice/jetstream"
	"sluice/metrics"
	"sluice/oidc"
	"sluice/portal/page"
)

// everyoneIsAdmin skips authentication, so that a benchmark can measure its cost.
func everyoneIsAdmin(http.ResponseWriter, *http.Request) (sluice.User, error) {
	return sluice.User{Name: sluice.AdminName, Permissions: []string{"*"}}, nil
}

// authentication makes the authenticator. It returns the endpoints of the embedded issuer, or the external provider.
func (s *Server) authentication() (issuer http.Handler, provider page.Provider) {
	s.login = &iam.Authenticator{Directory: s.directory, Realm: s.cfg.Namespace, Observe: s.metrics.Login}
	if s.cfg.AuthIssuer == "" {
		s.issuer = s.newIssuer()
		s.login.Tokens, s.login.Login = s.issuer, s.directory.Login
		return s.issuer.Handler(), nil
	}
	external := s.newProvider()
	s.login.Tokens = external
	s.login.Login = func(ctx context.Context, username, password, address string) (sluice.User, error) {
		return s.directory.Throttled(ctx, username, address, func() (sluice.User, error) {
			id, err := external.Password(ctx, username, password)
			if err != nil {
				return sluice.User{}, err
			}
			return s.directory.Identify(ctx, id)
		})
	}
	return nil, external
}

func (s *Server) newProvider() *oidc.Provider {
	return oidc.NewProvider(oidc.ProviderOptions{
		Issuer:        s.cfg.AuthIssuer,
		ClientID:      s.cfg.AuthClientID,
		ClientSecret:  s.cfg.AuthClientSecret,
		CLIClient:     s.cfg.AuthCLIClient,
		Audience:      s.cfg.AuthAudience,
		RolesClaim:    s.cfg.AuthRolesClaim,
		UsernameClaim: s.cfg.AuthUsernameClaim,
		Log:           s.Log,
	})
}

func (s *Server) newIssuer() *oidc.Issuer {
	return oidc.NewIssuer(oidc.IssuerOptions{
		BaseURL:    s.baseURL,
		Namespace:  s.cfg.Namespace,
		Directory:  s.directory,
		Sessions:   s.engine.Sessions,
		Keys:       s.engine.SigningKeys,
		AccessTTL:  s.cfg.AccessTTL,
		RefreshTTL: s.cfg.RefreshTTL,
		Rotation:   s.cfg.KeyRotation,
		Observe: func(ctx context.Context, login sluice.Login) {
			s.metrics.TokenRequest(login.Grant, login.Outcome)
			s.directory.NoteLogin(ctx, login)
		},
		Ended: s.directory.NoteLogout,
		Log:   s.Log,
	})
}

// endSessions ends the logins of a user, or of a client, and signs the user out of the
// portal.
func endSessions(ctx context.Context, engine *jetstream.Engine, username, clientID string) error {
	err := oidc.EndSessions(ctx, engine.Sessions, username, clientID)
	if username == "" {
		return err
	}
	return errors.Join(err, page.EndSessions(ctx, engine.PortalSessions, username))
}

// openID returns where the issuer of access tokens describes itself: a path on this
// server, or a URL of the external provider.
func (s *Server) openID() string {
	if s.cfg.AuthIssuer != "" {
		return strings.TrimSuffix(s.issuerURL(), "/") + sluice.OpenIDPath
	}
	return sluice.RealmsPath + s.cfg.Namespace + sluice.OpenIDPath
}

// issuerURL identifies the issuer of access tokens.
func (s *Server) issuerURL() string {
	if s.cfg.AuthIssuer != "" {
		return s.cfg.AuthIssuer
	}
	return s.baseURL + sluice.RealmsPath + s.cfg.Namespace
}

// uses tracks when accounts, clients and secrets were last used.
type uses struct {
	accounts *metrics.Uses[sluice.Account]
	clients  *metrics.Uses[sluice.Client]
	secrets  *metrics.Uses[sluice.Secret]
	webhooks *metrics.Uses[sluice.Webhook] // and of their tokens
}

func newUses(e *jetstream.Engine, log *slog.Logger) *uses {
	return &uses{
		accounts: metrics.NewUses(e.Accounts, func(a *sluice.Account, _ string) *time.Time { return &a.Used }, log),
		clients:  metrics.NewUses(e.Clients, func(c *sluice.Client, _ string) *time.Time { return &c.Used }, log),
		secrets:  metrics.NewUses(e.Secrets, func(s *sluice.Secret, _ string) *time.Time { return &s.Used }, log),
		webhooks: metrics.NewUses(e.Webhooks, (*sluice.Webhook).TokenUse, log),
	}
}

// CreateAdmin waits until the engine is set up, and creates the admin if there is none.
// created says whether it did; password is set if it was generated. The server is not ready
// before.
func (s *Server) CreateAdmin(ctx context.Context) (created bool, password string, err error) {
	if err := s.untilSetUp(ctx); err != nil {
		return false, "", err
	}
	if s.cfg.AuthIssuer == "" {
		created, password, err = iam.Bootstrap(ctx, s.engine.Accounts, s.AdminPassword)
	}
	s.admin.Store(err == nil)
	return created, password, err
}

// untilSetUp waits until the engine is set up.
func (s *Server) untilSetUp(ctx context.Context) error {
	select {
	case <-s.engine.SetUp():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkAdminPassword rejects a weak first password if it is known that there is no admin.
// With an external engine that may be known later.
func (s *Server) checkAdminPassword(ctx context.Context) error {
	if s.cfg.AuthIssuer != "" {
		return nil
	}
	select {
	case <-s.engine.SetUp():
		return iam.CheckFirst(ctx, s.engine.Accounts, s.AdminPassword)
	default:
		return nil
	}
}

// SetAdminPassword sets the password of the admin while the server is stopped, and ends
// the admin's logins. Without a password it generates one and returns it.
func SetAdminPassword(
	ctx context.Context, cfg config.Config, password string, log *slog.Logger,
) (generated string, err error) {
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
			Time: time.Now().UTC(), Username: sluice.AdminName, Command: "admin.password", Target: sluice.AdminName,
			Outcome: sluice.AuditAllowed,
		})
	})
	return generated, err
}
