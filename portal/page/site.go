// Package page is what all pages of the portal have in common: who is signed in, the layout and the
// templates, forms, and asking commands on behalf of the user. It knows no page itself; the rooms beside
// it add theirs to a Site.
package page

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

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
	Stopping  <-chan struct{}        // closed when the server stops
	Reference func() ([]byte, error) // the API as OpenAPI
	Functions []sluice.Word          // what expressions can call besides commands
	Version   string
	Namespace string
	BaseURL   string
	Demo      bool // every page says that all of it is made up
	Log       *slog.Logger
}

// A Provider is an OpenID provider where people sign in.
type Provider interface {
	SignInURL(ctx context.Context, redirect, state, nonce, verifier string) (string, error)
	SignIn(ctx context.Context, redirect, code, nonce, verifier string) (sluice.Identity, error)
}

// Programs issues tokens to programs that act for a person.
type Programs interface {
	// Asked reads a program's request. Its errors are shown to the person.
	Asked(ctx context.Context, query string) (sluice.Authorization, error)

	// Allow and Deny return the URL that takes the answer to the program.
	Allow(ctx context.Context, a sluice.Authorization, username string, signedIn time.Time) (string, error)
	Deny(a sluice.Authorization, reason, sentence string) string
}

// A Site serves the pages that were added to it.
type Site struct {
	Options

	Base string // the path of the public URL, which a proxy strips

	mux     *http.ServeMux
	guarded http.Handler // the mux, protected against other sites
	board   board

	templates []fs.FS
	parsed    sync.Map // templates by the names of pages
}

// New returns a site that has no pages yet, but the files that pages load.
func New(o Options) *Site {
	s := &Site{Options: o, mux: http.NewServeMux()}
	if public, err := url.Parse(o.BaseURL); err == nil {
		s.Base = strings.TrimSuffix(public.Path, "/")
	}
	s.guarded = s.guard(s.mux)
	s.Add(own)
	s.Public("GET /static/{file}", sendAsset)
	return s
}

// An Endpoint serves a page. It returns an error only before it has written anything.
type Endpoint func(*Visit) error

// Public adds a page for anyone.
func (s *Site) Public(pattern string, serve Endpoint) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := &Visit{Site: s, W: w, R: r}
		if v.Fail(serve(v)); v.failed != nil {
			v.fail(v.failed)
		}
	})
}

// Pages adds pages for signed-in users, by their patterns. Others are sent to the page where they sign in. What is
// posted is a form.
func (s *Site) Pages(pages map[string]Endpoint) {
	for pattern, serve := range pages {
		s.Public(pattern, func(v *Visit) error {
			if err := v.SignedIn(); err != nil {
				if !sluice.Unauthenticated.Is(err) {
					return err
				}
				return v.askToSignIn()
			}
			if !s.Users.Enter(v.User.Name) {
				const message = "You have as many calls in flight as one user may. Try again when some have ended."
				return sluice.CodeTooManyCalls.Errorf(message).After(10 * time.Second)
			}
			defer s.Users.Leave(v.User.Name)
			const most = 4 << 20
			if strings.HasPrefix(pattern, http.MethodPost) {
				if err := v.ReadForm(most); err != nil {
					return err
				}
			}
			return serve(v)
		})
	}
}

// PagesOf adds pages about what a path names.
func PagesOf[T any](s *Site, find func(*Visit) T, pages map[string]func(*Visit, T) error) {
	all := make(map[string]Endpoint)
	for pattern, serve := range pages {
		all[pattern] = func(v *Visit) error {
			found := find(v)
			if v.failed != nil {
				return v.failed
			}
			return serve(v, found)
		}
	}
	s.Pages(all)
}

// policy lets a browser load and run files of this server only, and no inline code.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'" + formPolicy

// formPolicy lets forms go to this server only.
const formPolicy = "; form-action 'self'"

// LetFormsLeave lets the forms of a page lead to other servers. Browsers apply the policy to the
// redirects after a form too, and those lead to the program that asks.
func (v *Visit) LetFormsLeave() {
	v.W.Header().Set("Content-Security-Policy", strings.TrimSuffix(policy, formPolicy))
}

// Serve serves a request. An unknown path is an error, or a page for browsers.
func (s *Site) Serve(w http.ResponseWriter, r *http.Request) error {
	_, pattern := s.mux.Handler(r)
	if pattern == "" && !problem.WantsHTML(r) {
		return sluice.CodeNotFound.Errorf("There is nothing at this path; /openapi.json lists what there is.")
	}
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if pattern != "" {
		s.guarded.ServeHTTP(w, r)
		return nil
	}
	v := &Visit{Site: s, W: w, R: r}
	_ = v.SignedIn() // if nobody is, the page has no navigation
	v.fail(sluice.CodeNotFound.Errorf("There is no such page."))
	return nil
}

// guard rejects requests that another site makes a browser send.
func (s *Site) guard(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if base, err := url.Parse(s.BaseURL); err == nil {
		// A proxy may change the Host header, which the Origin is compared with.
		if err := guard.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			s.Log.Warn("The portal can't tell where its own pages come from.", "error", err)
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const message = "This request came from another site, so nothing was done. Open the page here and try again."
		(&Visit{Site: s, W: w, R: r}).fail(sluice.CodeCrossOrigin.Errorf(message))
	}))
	return guard.Handler(next)
}
