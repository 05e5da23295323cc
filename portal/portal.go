package portal

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/problem"
)

// Options are what the portal is made of.
type Options struct {
	Commands command.Set
	Sessions sluice.Records[sluice.PortalSession]

	// Login checks a password; nil if people sign in at the provider.
	Login func(ctx context.Context, username, password, address string) (sluice.User, error)

	// Provider is where people sign in; nil if they have a password here.
	Provider Provider
	Issuer   string // the provider's identifier

	// Programs is where programs ask to act for people; nil if the provider is.
	Programs Programs

	// Identify returns the user that an identity stands for, as stored now.
	Identify func(ctx context.Context, id sluice.Identity) (sluice.User, error)

	// Note enters a sign-in or sign-out in the audit log.
	Note func(ctx context.Context, e sluice.AuditEntry)

	// Receive is where webhooks are called, for calls that people try.
	Receive http.HandlerFunc

	// Users bounds how many pages a user asks for at the same time, together
	// with calls of the API.
	Users *limit.Shares[string]

	Tail      sluice.Tail
	Stopping  <-chan struct{}       // is closed when the server stops
	Reference func() map[string]any // the API as OpenAPI
	Functions []sluice.Word         // that expressions can call, beside commands
	Version   string
	Namespace string
	BaseURL   string
	Log       *slog.Logger
}

// A Provider is an OpenID provider at which people sign in.
type Provider interface {
	SignInURL(ctx context.Context, redirect, state, nonce, verifier string) (string, error)
	SignIn(ctx context.Context, redirect, code, nonce, verifier string) (sluice.Identity, error)
}

// A Portal serves the pages.
type Portal struct {
	Options

	base     string // the path of the public URL, which a proxy cuts off
	sessions *sessions
	mux      *http.ServeMux
	guarded  http.Handler // the mux, behind the guard against other sites
	board    alertBoard
	streams  *limit.Places // of the live streams
	readers  *limit.Shares[string]
}

// New returns a portal.
func New(o Options) *Portal {
	p := &Portal{
		Options:  o,
		sessions: &sessions{records: o.Sessions, issuer: o.Issuer, secure: strings.HasPrefix(o.BaseURL, "https://")},
		mux:      http.NewServeMux(),
		streams:  limit.NewPlaces(sluice.MaxTails),
		readers:  limit.NewShares[string](sluice.MaxTailsPerUser),
	}
	if public, err := url.Parse(o.BaseURL); err == nil {
		p.base = strings.TrimSuffix(public.Path, "/")
	}
	p.routes()
	p.guarded = p.guard(p.mux)
	return p
}

// routes says which page is where. A GET changes nothing.
func (p *Portal) routes() {
	p.mux.HandleFunc("GET /static/{file}", p.serveAsset)
	p.public("GET /signin", p.signInPage)
	p.public("POST /signin", p.signIn)
	p.public("GET /signin/provider", p.goToProvider)
	p.public("GET /signin/callback", p.returnFromProvider)
	p.public("GET "+sluice.AuthorizePath, p.authorizePage)
	p.page("POST "+sluice.AuthorizePath, p.authorize)
	p.page("POST /signout", p.signOut)
	p.page("GET /{$}", p.overview)
	p.page("GET /start", p.startPage)
	p.page("POST /start", p.start)
	p.routeWebhooks()
	p.routeCalls()
	p.routeQuarantine()
	p.routePipelines()
	p.routeCommands()
	p.routeAdministration()
}

// Serve serves a request. For an unknown path it returns an error, unless a
// browser asks.
func (p *Portal) Serve(w http.ResponseWriter, r *http.Request) error {
	_, pattern := p.mux.Handler(r)
	if pattern == "" && !problem.WantsHTML(r) {
		return sluice.Errorf(sluice.CodeNotFound, "There is nothing at this path; /openapi.json lists what there is.")
	}
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if pattern != "" {
		p.guarded.ServeHTTP(w, r)
		return nil
	}
	if user, err := p.user(w, r); err == nil { // the page then has the navigation
		r = r.WithContext(sluice.WithUser(r.Context(), user))
	}
	p.fail(w, r, sluice.Errorf(sluice.CodeNotFound, "There is no such page."))
	return nil
}

// policy lets a browser load and run only files of this server, and nothing
// written in a page.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// guard refuses requests that another site makes a browser send.
func (p *Portal) guard(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if base, err := url.Parse(p.BaseURL); err == nil {
		// A proxy may change the Host that an Origin is compared with.
		if err := guard.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			p.Log.Warn("The portal can't tell where its own pages come from.", "error", err)
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, sluice.Errorf(sluice.CodeCrossOrigin, "This request came from another site, so nothing was done. Open the page here and try again."))
	}))
	return guard.Handler(next)
}

// An endpoint serves a page; it has written nothing if it returns an error.
type endpoint func(http.ResponseWriter, *http.Request) error

// public serves a page to anyone.
func (p *Portal) public(pattern string, serve endpoint) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

// page serves a page to signed-in users. Others go to the sign-in.
func (p *Portal) page(pattern string, serve endpoint) {
	p.public(pattern, func(w http.ResponseWriter, r *http.Request) error {
		user, err := p.user(w, r)
		if err != nil {
			if sluice.AsError(err).Kind != sluice.Unauthenticated {
				return err
			}
			p.askToSignIn(w, r)
			return nil
		}
		r = r.WithContext(sluice.WithUser(r.Context(), user))
		if !p.Users.Enter(user.Name) {
			p.fail(w, r, sluice.Errorf(sluice.CodeTooManyCalls, "You have as many calls in flight as one user may. Try again when some have ended.").After(beatEvery))
			return nil
		}
		defer p.Users.Leave(user.Name)
		if err := serve(w, r); err != nil {
			p.fail(w, r, err)
		}
		return nil
	})
}
