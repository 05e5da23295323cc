package portal

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
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
	Demo      bool // every page says that all of it is made up
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

// Programs issues tokens to programs that act for a person.
type Programs interface {
	// Asked reads a program's request. Its errors are shown to the person.
	Asked(ctx context.Context, query string) (sluice.Authorization, error)

	// Allow and Deny return the URL that takes the answer to the program.
	Allow(ctx context.Context, a sluice.Authorization, username string, signedIn time.Time) (string, error)
	Deny(a sluice.Authorization, reason, sentence string) string
}

// An alert is shown on every page.
type alert struct {
	Bad   bool // a failure; otherwise a warning
	Text  string
	Since *time.Time // shown after the text; nil if it has no time
	Link  string     // path of a page about it; "" if there is none
}

// An alertBoard caches alerts for a moment.
type alertBoard struct {
	mu    sync.Mutex
	found []alert
	at    time.Time
}

// policy lets a browser load and run files of this server only, and no inline code.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// An endpoint serves a page. It returns an error only before it has written anything.
type endpoint func(http.ResponseWriter, *http.Request) error

// A link leads to a page that needs the permission for a command.
type link struct {
	Name    string
	Path    string
	Icon    string // an SVG path, drawn in 16 by 16
	command string // "" if anyone may see the page
	ours    bool   // it is about our own users: an external provider replaces them
}
