package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"sluice"
	"sluice/iam"
	"sluice/oidc"
	"sluice/portal"
)

// everyoneIsAdmin lets a benchmark measure what authentication costs.
func everyoneIsAdmin(http.ResponseWriter, *http.Request) (sluice.User, error) {
	return sluice.User{Name: sluice.AdminName, Permissions: []string{"*"}}, nil
}

// authentication gives what turns Authorization headers into users, and the
// endpoints of the embedded issuer or the external provider.
func (s *Server) authentication(directory *iam.Directory) (a *iam.Authenticator, issuer http.Handler, outside portal.Provider) {
	a = &iam.Authenticator{Directory: directory, Realm: s.cfg.Namespace, Observe: s.metrics.Login}
	if s.cfg.AuthIssuer != "" {
		provider := oidc.NewProvider(oidc.ProviderOptions{
			Issuer:        s.cfg.AuthIssuer,
			ClientID:      s.cfg.AuthClientID,
			ClientSecret:  s.cfg.AuthClientSecret,
			Audience:      s.cfg.AuthAudience,
			RolesClaim:    s.cfg.AuthRolesClaim,
			UsernameClaim: s.cfg.AuthUsernameClaim,
			Log:           s.opts.Log,
		})
		directory.External = true
		a.Tokens = provider
		a.Login = func(ctx context.Context, username, password, address string) (sluice.User, error) {
			return directory.Throttled(ctx, username, address, func() (sluice.User, error) {
				id, err := provider.Password(ctx, username, password)
				if err != nil {
					return sluice.User{}, err
				}
				return directory.Identify(ctx, id)
			})
		}
		return a, nil, provider
	}
	own := oidc.NewIssuer(oidc.IssuerOptions{
		BaseURL:    s.baseURL,
		Namespace:  s.cfg.Namespace,
		Directory:  directory,
		Sessions:   s.engine.Sessions(),
		Keys:       s.engine.SigningKeys(),
		AccessTTL:  s.cfg.AccessTTL,
		RefreshTTL: s.cfg.RefreshTTL,
		Rotation:   s.cfg.KeyRotation,
		Observe: func(ctx context.Context, login oidc.Login) {
			s.metrics.TokenRequest(login.Grant, login.Outcome)
			directory.NoteLogin(ctx, login.Grant, login.ClientID, login.Username, login.Address, login.Outcome == oidc.Granted, login.Outcome)
		},
		Ended: func(ctx context.Context, e oidc.Ending) {
			directory.NoteLogout(ctx, e.Username, e.ClientID, e.Address, e.Reused)
		},
		Log: s.opts.Log,
	})
	directory.EndSessions = func(ctx context.Context, username, clientID string) error {
		err := own.EndSessions(ctx, func(s *sluice.Session) bool {
			return s.Username == username || s.ClientID == clientID
		})
		if username == "" {
			return err
		}
		return errors.Join(err, portal.EndSessions(ctx, s.engine.PortalSessions(), username))
	}
	a.Tokens, a.Login = own, directory.Login
	return a, own.Handler(), nil
}

// openID gives where the issuer of access tokens describes itself: below the
// server's own URL, whichever a caller reaches it by, or at an external provider.
func (s *Server) openID() string {
	const document = "/.well-known/openid-configuration"
	if s.cfg.AuthIssuer != "" {
		return strings.TrimSuffix(s.cfg.AuthIssuer, "/") + document
	}
	return sluice.RealmsPath + s.cfg.Namespace + document
}
