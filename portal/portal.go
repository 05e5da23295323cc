// Package portal serves the pages that people see in a browser. They work without
// JavaScript, except for live updates.
//
// It has no access of its own: whatever it shows or does is a command, called with the
// permissions of the signed-in user. Package serve tells it who may sign in and where
// sessions are stored.
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

// A section is a group of links in the navigation.
type section struct {
	Title string
	Links []link
}

var sections = []section{
	{"", []link{
		{Name: "Overview", Path: "/", Icon: "M2 8.5 8 3l6 5.5M4 7.5V13h8V7.5"},
		{Name: "Alerts", Path: "/alerts", Icon: "M4 12V7a4 4 0 0 1 8 0v5M2 12h12M7 14h2", command: "alert.get"},
	}},
	{"Traffic", []link{
		{Name: "Calls", Path: "/calls", Icon: "M2 4h12M2 8h12M2 12h8", command: "trace.get"},
		{Name: "Dead letters", Path: "/deadletters", Icon: "M2 4h12v9H2zM2 4l6 5 6-5", command: "deadletter.get"},
		{Name: "Quarantine", Path: "/quarantine", Icon: "M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4z", command: "quarantine.get"},
	}},
	{"Setup", []link{
		{Name: "Webhooks", Path: "/webhooks", Icon: "M8 2v7M5 6l3 3 3-3M2 10v4h12v-4", command: "webhook.get"},
		{Name: "Pipelines", Path: "/pipelines", Icon: "M2 3h5v4H2zM9 9h5v4H9zM4.5 7v4H9", command: "pipeline.get"},
		{Name: "Secrets", Path: "/secrets", Icon: "M10 2a4 4 0 1 1-3.5 6L2 12.5V14h3v-2h2l1-2", command: "secret.get"},
	}},
	{"Access", []link{
		{Name: "Users", Path: "/users", Icon: "M8 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6M2 14c0-3 3-4.5 6-4.5s6 1.5 6 4.5", command: "iam.user.get", ours: true},
		{Name: "Roles", Path: "/roles", Icon: "M2 3h12v10H2zM5 6h6M5 10h3", command: "iam.role.get"},
		{Name: "Clients", Path: "/clients", Icon: "M2 3h12v8H2zM5 14h6M8 11v3", command: "iam.client.get", ours: true},
		{Name: "Audit log", Path: "/audit", Icon: "M3 2h10v12H3zM6 5h4M6 8h4M6 11h2", command: "audit.get"},
	}},
	{"Tools", []link{
		{Name: "Commands", Path: "/commands", Icon: "m3 5 3 3-3 3M8 12h5"},
		{Name: "API reference", Path: "/reference", Icon: "M6 3 3 8l3 5M10 3l3 5-3 5"},
	}},
}

// Sections returns the navigation with the pages that the user may see.
func (s *page) Sections() []section {
	var shown []section
	for _, all := range sections {
		group := section{Title: all.Title}
		for _, l := range all.Links {
			if (l.command == "" || s.May(l.command)) && (!l.ours || s.portal.Provider == nil) {
				group.Links = append(group.Links, l)
			}
		}
		if group.Links != nil {
			shown = append(shown, group)
		}
	}
	return shown
}

// Section returns the link of the navigation that the page is below, or nil.
func (s *page) Section() *link {
	for _, group := range s.Sections() {
		for _, l := range group.Links {
			if within(s.Path, l.Path) && s.Path != l.Path {
				return &l
			}
		}
	}
	return nil
}
