// Package api serves /api/v3: it calls commands over HTTP, answers polls for
// results, turns errors into problem documents, and describes itself as
// OpenAPI.
//
// What a command does is in the command's package; this one knows only its
// declaration.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/live"
	"sluice/problem"
	"sluice/value"
)

// Options are what the API is made of.
type Options struct {
	Commands command.Set
	Results  sluice.Results
	// the caller; Unauthenticated if there is none
	Authenticate func(http.ResponseWriter, *http.Request) (sluice.User, error)
	Auth         http.Handler     // the issuer's endpoints under /auth/; nil if there is none
	Portal       command.Endpoint // serves all other paths; nil if there is no portal
	Metrics      http.Handler     // serves /metrics
	ObservePoll  func(status int) // is told of each poll
	Spans        sluice.Spans
	Readiness    func() (detail map[string]any, err error)
	Stopping     <-chan struct{} // closed when the server begins to stop: each answer is the last on its connection
	Tail         sluice.Tail
	PollHold     time.Duration // how long a poll waits for its result; 0: 5 seconds

	Version         string
	BaseURL         string
	OpenID          string // where the issuer of access tokens describes itself
	Agents          Agents
	PublicURL       string // where redirects lead to; "" means this host
	TrustedProxies  []netip.Prefix
	ForwardedHeader string   // in which they pass on the client's address
	CertHeader      string   // in which they pass on its certificate, canonical; "" means in none
	CORSOrigins     []string // of pages that may call the API
	Slots           *limit.Slots
	Users           *limit.Shares[string] // of the slots, by username
	Bodies          *limit.Bodies
	Streams         *limit.Streams
	Log             *slog.Logger
}

// API serves everything under one address. It is an http.Handler.
type API struct {
	Options
	handler  http.Handler
	begun    atomic.Int64              // calls that are not answered yet
	late     atomic.Pointer[time.Time] // of the last request to a server that stops
	streams  *live.Streams
	misses   *limit.Tries // polls for unknown results, by client address
	failures *limit.Tries // that are logged, by code
	polls    *polls
	reads    chan struct{} // results that are being read
	lists    chan struct{} // lists that are being made

	document func() ([]byte, error) // describes the API

	interrupted context.Context //nolint:containedctx // ends when commands that run must
	interrupt   context.CancelCauseFunc
}

// New returns the API.
func New(o Options) *API {
	a := &API{
		Options: o,
		streams: live.New(live.Streams{
			Tail: o.Tail, Stopping: o.Stopping,
			Identify: func(r *http.Request) (sluice.User, error) { return o.Authenticate(Unheard{}, r) },
		}),
		misses: limit.NewTries(60, time.Second), failures: limit.NewTries(20, 3*time.Second),
		polls: newPolls(),
		lists: make(chan struct{}, maxLists),
		reads: make(chan struct{}, max(minReads, min(o.Bodies.Answers.Fits(largestResult), maxReads))),
	}
	a.document = sync.OnceValues(func() ([]byte, error) {
		return value.MarshalIndent(describe(o.Commands, o.Version, o.BaseURL, o.OpenID))
	})
	a.interrupted, a.interrupt = context.WithCancelCause(context.Background())
	mux, commands := a.routes(), a.handle(a.counted(a.command))
	others := compressed(func(w http.ResponseWriter, r *http.Request) {
		// Commands are data, not routes, and most requests call one.
		if strings.HasPrefix(r.URL.Path, sluice.CommandPath) {
			commands(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
	a.handler = a.guard(newBrowsers(o), func(w http.ResponseWriter, r *http.Request) {
		// must be fast, and its answers are short
		if r.URL.Path == sluice.ReceivePath || strings.HasPrefix(r.URL.Path, sluice.HookPath) {
			commands(w, r)
			return
		}
		others(w, r)
	})
	return a
}

// routes returns the handlers of all paths but those of commands.
func (a *API) routes() *http.ServeMux {
	mux := http.NewServeMux()
	route := func(serve command.Endpoint, paths ...string) {
		for _, path := range paths {
			mux.HandleFunc(path, a.handle(serve))
		}
	}
	route(a.result, sluice.ResultPath)            // polls that wait have a limit of their own
	route(by(a.events, "GET"), sluice.EventsPath) // as have tails
	route(by(a.serveMetrics, "GET"), sluice.MetricsPath)
	route(a.counted(a.pipeline), sluice.PipelinePath, sluice.PipelinePath+"/{name}")
	if a.Auth != nil {
		route(a.arrived(maxForm, a.inSlot(a.Auth)), sluice.AuthPath, sluice.MetadataPath, sluice.MetadataPath+"/")
	}
	if a.Agents.Enabled {
		route(a.counted(a.agent), sluice.AgentPath)
		route(a.protected, "GET "+sluice.ResourcePath, "GET "+sluice.ResourcePath+sluice.AgentPath)
	}
	route(by(a.openAPI(), "GET", "HEAD"), sluice.OpenAPIPath)
	route(health(alive), sluice.HealthPath)
	route(health(a.Readiness), sluice.ReadyPath)
	route(notFound, "/api/")
	if a.Portal == nil {
		route(notFound, "/")
	} else {
		route(a.arrived(maxBody, a.Portal), "/")
	}
	return mux
}

// by refuses requests by other methods.
func by(serve command.Endpoint, methods ...string) command.Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !slices.Contains(methods, r.Method) {
			return notAllowed(strings.Join(methods, ", "))
		}
		return serve(w, r)
	}
}

// How many results are read from the engine at the same time: as many as there is
// memory for if all are as large as can be. Each is in memory twice.
const (
	maxLists      = 4 // more would wait for a processor anyway
	minReads      = 2
	maxReads      = 64
	largestResult = 4 * sluice.MaxPayloadLength
)

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Headers of every answer, shared since nobody changes them.
var (
	noStore    = []string{"no-store"}
	noReferrer = []string{"no-referrer"}
	noSniff    = []string{"nosniff"}
	// An answer is data; pages have a policy of their own.
	noContent = []string{"default-src 'none'; base-uri 'none'; frame-ancestors 'none'"}
)

// guard does what every request needs, before it reaches its handler.
func (a *API) guard(b *browsers, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header["Cache-Control"] = noStore
		header["Referrer-Policy"] = noReferrer
		header["X-Content-Type-Options"] = noSniff
		header["Content-Security-Policy"] = noContent
		if r.TransferEncoding != nil || !r.ProtoAtLeast(1, 1) {
			// Such a request may also have a Content-Length, or in HTTP/1.0 a
			// Transfer-Encoding that is ignored. What follows on the connection
			// can't be trusted (RFC 9112, 6.1).
			header.Set("Connection", "close")
		}
		if a.draining() {
			header.Set("Connection", "close")
			a.late.Store(new(time.Now()))
		}
		defer a.recover(w, r)
		a.identify(r)
		// behind a token anything may stand
		if clean := path.Clean(r.URL.Path); r.URL.Path != clean && !strings.HasPrefix(r.URL.Path, sluice.HookPath) {
			if r.URL.Path == clean+"/" && r.Method == http.MethodGet && problem.WantsHTML(r) {
				// A person typed it. The redirect is relative, since a proxy may serve us below a path.
				header.Set("Location", (&url.URL{Path: "../" + path.Base(clean), RawQuery: r.URL.RawQuery}).String())
				w.WriteHeader(http.StatusPermanentRedirect)
				return
			}
			a.fail(w, r, notFound(w, r))
			return
		}
		switch answered, err := b.check(w, r); {
		case err != nil:
			a.fail(w, r, err)
		case !answered:
			next(w, r)
		}
	})
}

// handle makes a handler of a function that has written nothing if it fails.
func (a *API) handle(serve command.Endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// counted counts the calls that a stop of the server waits for, including those whose
// body is still arriving.
func (a *API) counted(serve command.Endpoint) command.Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		a.begun.Add(1)
		defer a.begun.Add(-1)
		return serve(w, r)
	}
}
