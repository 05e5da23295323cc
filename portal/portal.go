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

// Options are what the portal needs from the rest of the service.
type Options struct {
	Commands command.Set
	Sessions sluice.Records[sluice.PortalSession]

	// Login checks a password; nil if people sign in at a provider.
	Login func(ctx context.Context, username, password, address string) (sluice.User, error)

	// Provider is where people sign in; nil if they have a password here.
	Provider Provider
	Issuer   string // the provider's identifier

	// Programs lets programs act for people; nil if the provider does that.
	Programs Programs

	// Identify returns the user of an identity, as stored now.
	Identify func(ctx context.Context, id sluice.Identity) (sluice.User, error)

	// Note enters a sign-in or sign-out in the audit log.
	Note func(ctx context.Context, e sluice.AuditEntry)

	// Receive serves calls of webhooks, for those that people send from a page.
	Receive http.HandlerFunc

	// Users bounds how many pages and API calls a user has in flight.
	Users *limit.Shares[string]

	Tail      sluice.Tail
	Stopping  <-chan struct{}       // closed when the server stops
	Reference func() map[string]any // the API as OpenAPI
	Functions []sluice.Word         // what expressions can call besides commands
	Version   string
	Namespace string
	BaseURL   string
	Log       *slog.Logger
}

// A Provider is an OpenID provider where people sign in.
type Provider interface {
	SignInURL(ctx context.Context, redirect, state, nonce, verifier string) (string, error)
	SignIn(ctx context.Context, redirect, code, nonce, verifier string) (sluice.Identity, error)
}

// A Portal serves the pages.
type Portal struct {
	Options

	base     string // the path of the public URL, which a proxy strips
	sessions *sessions
	mux      *http.ServeMux
	guarded  http.Handler // the mux, protected against other sites
	board    alertBoard
	streams  *limit.Slots          // bounds the live streams of all users
	readers  *limit.Shares[string] // bounds those of one user
}

// New returns a portal.
func New(o Options) *Portal {
	p := &Portal{
		Options:  o,
		sessions: &sessions{records: o.Sessions, issuer: o.Issuer, secure: strings.HasPrefix(o.BaseURL, "https://")},
		mux:      http.NewServeMux(),
		streams:  limit.NewSlots(sluice.MaxTails),
		readers:  limit.NewShares[string](sluice.MaxTailsPerUser),
	}
	if public, err := url.Parse(o.BaseURL); err == nil {
		p.base = strings.TrimSuffix(public.Path, "/")
	}
	p.routes()
	p.guarded = p.guard(p.mux)
	return p
}

// routes registers the pages. A GET changes nothing.
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
	p.form("/start", p.start)
	p.routeWebhooks()
	p.routeCalls()
	p.routeQuarantine()
	p.routePipelines()
	p.routeCommands()
	p.routeAdministration()
}

// Serve serves a request. An unknown path is an error, or a page for browsers.
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
	if user, err := p.user(w, r); err == nil { // the page shows the navigation
		r = r.WithContext(sluice.WithUser(r.Context(), user))
	}
	p.fail(w, r, sluice.Errorf(sluice.CodeNotFound, "There is no such page."))
	return nil
}

// policy lets a browser load and run files of this server only, and no inline code.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// guard rejects requests that another site makes a browser send.
func (p *Portal) guard(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if base, err := url.Parse(p.BaseURL); err == nil {
		// A proxy may change the Host header, which the Origin is compared with.
		if err := guard.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			p.Log.Warn("The portal can't tell where its own pages come from.", "error", err)
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, sluice.Errorf(sluice.CodeCrossOrigin, "This request came from another site, so nothing was done. Open the page here and try again."))
	}))
	return guard.Handler(next)
}

// An endpoint serves a page. It returns an error only before it has written anything.
type endpoint func(http.ResponseWriter, *http.Request) error

// public serves a page to anyone.
func (p *Portal) public(pattern string, serve endpoint) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

// page serves a page to signed-in users, and sends others to the sign-in page.
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

// form serves a form that signed-in users submit, after reading it.
func (p *Portal) form(path string, serve endpoint) {
	p.page("POST "+path, func(w http.ResponseWriter, r *http.Request) error {
		if err := readForm(w, r, maxForm); err != nil {
			return err
		}
		return serve(w, r)
	})
}
