package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/api"
	"sluice/body"
	"sluice/command"
	"sluice/config"
	"sluice/event"
	"sluice/iam"
	"sluice/jetstream"
	"sluice/webhook"
)

// Version is the version of the program.
const Version = "0.1.0"

// drainTimeout bounds how long a stop waits for calls in flight.
const drainTimeout = 10 * time.Second

// Options are what a server needs beside its settings.
type Options struct {
	AdminPassword string             // of the first start; "" makes one up
	Sync          jetstream.SyncMode // for benchmarks and torture tests
	NoAuth        bool               // for benchmarks: every call is the admin's
	Log           *slog.Logger
}

// A Server is a running service.
type Server struct {
	cfg      config.Config
	opts     Options
	folder   *folder // nil with an external engine
	engine   *jetstream.Engine
	api      *api.API
	http     *http.Server
	listener net.Listener
	baseURL  string
	served   chan error // what http.Server.Serve returned

	admin    atomic.Bool // there is one, or an external provider has them
	unready  atomic.Bool
	draining atomic.Bool
}

// Start opens the engine and serves. The server is ready when it returns, or
// says at /readyz what it waits for.
func Start(ctx context.Context, cfg config.Config, opts Options) (_ *Server, err error) {
	s := &Server{cfg: cfg, opts: opts, served: make(chan error, 1)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if cfg.NATS == "" {
		if s.folder, err = openFolder(cfg.Data); err != nil {
			return nil, err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("can't listen on %s: %w", cfg.Listen, err)
	}
	s.listener = api.LimitListener(listener, cfg.MaxConnections, cfg.MaxConnectionsPerAddress, cfg.TrustedProxies)
	s.baseURL = baseURL(cfg, s.listener.Addr())
	if s.engine, err = jetstream.Open(ctx, s.engineOptions()); err != nil {
		return nil, fmt.Errorf("can't start the engine: %w", err)
	}
	s.api = s.newAPI()
	if s.http, err = s.httpServer(); err != nil {
		return nil, err
	}
	go s.serve()
	return s, nil
}

func (s *Server) engineOptions() jetstream.Options {
	opts := jetstream.Options{
		URL:           s.cfg.NATS,
		Credentials:   s.cfg.NATSCredentials,
		Replicas:      s.cfg.NATSReplicas,
		EventMaxAge:   s.cfg.EventMaxAge,
		EventMaxBytes: int64(s.cfg.EventMaxBytes),
		MinFreeDisk:   int64(s.cfg.MinFreeDisk),
		ResultTTL:     s.cfg.ResultTTL,

		ResultMaxCount: int64(s.cfg.ResultMaxCount),
		ResultMaxBytes: int64(s.cfg.ResultMaxBytes),

		Sync: s.opts.Sync,
		Log:  s.opts.Log,
	}
	if s.folder != nil {
		opts.Dir = s.folder.engine()
	}
	return opts
}

// Commands lists every command of the service. The directory learns their names.
func Commands(cfg config.Config, baseURL string, engine *jetstream.Engine, directory *iam.Directory, receiver *webhook.Receiver) command.Set {
	set := command.NewSet(
		directory.Note,
		webhook.Commands(engine.Webhooks(), baseURL, receiver),
		event.Commands(engine.Events(), engine.Events(), cfg.Namespace),
		iam.Commands(directory),
		[]command.Command{infoCommand(cfg.Namespace, engine.Describe)},
	)
	directory.CommandNames = set.Names
	return set
}

func (s *Server) newAPI() *api.API {
	pace := body.Pace{Idle: s.cfg.BodyIdleTimeout, Total: s.cfg.BodyTimeout, Rate: int(s.cfg.BodyMinRate)}
	budget := body.NewBudget(int64(s.cfg.MaxBodyMemory))
	receiver := webhook.NewReceiver(webhook.Receiver{
		Webhooks:  s.engine.Webhooks(),
		Events:    s.engine.Events(),
		Namespace: s.cfg.Namespace,
		PublicURL: strings.TrimSuffix(s.cfg.PublicURL, "/"),
		Redact:    s.cfg.RedactHeaders,
		Pace:      pace,
		Budget:    budget,
		Log:       s.opts.Log,

		ResultWait: s.cfg.ResultWait,
	})
	directory := iam.NewDirectory(iam.Directory{
		Accounts: s.engine.Accounts(),
		Roles:    s.engine.Roles(),
		Clients:  s.engine.Clients(),
		Audit:    s.engine.Audit(),
		Log:      s.opts.Log,
		Cores:    s.cfg.PasswordCores,
	})
	authenticator, issuer := s.authentication(directory)
	authenticate := authenticator.Authenticate
	if s.opts.NoAuth {
		authenticate = everyoneIsAdmin
	}
	return api.New(api.Options{
		Commands:       Commands(s.cfg, s.baseURL, s.engine, directory, receiver),
		Results:        s.engine.Events(),
		Authenticate:   authenticate,
		Auth:           issuer,
		Readiness:      s.readiness,
		Draining:       s.draining.Load,
		Version:        Version,
		BaseURL:        s.baseURL,
		PublicURL:      strings.TrimSuffix(s.cfg.PublicURL, "/"),
		TrustedProxies: s.cfg.TrustedProxies,
		MaxInFlight:    s.cfg.MaxInFlight,
		Pace:           pace,
		Budget:         budget,
		Log:            s.opts.Log,
	})
}

// readiness tells whether calls are welcome, with what an operator wants to
// know of the engine.
func (s *Server) readiness() (map[string]any, error) {
	if s.unready.Load() {
		e := sluice.Errorf(sluice.Unavailable, "draining", "The server is stopping.")
		e.RetryAfter = time.Second
		return nil, e
	}
	if err := s.engine.Ready(); err != nil {
		return nil, err
	}
	if !s.admin.Load() {
		e := sluice.Errorf(sluice.Unavailable, "starting", "The server is starting.")
		e.RetryAfter = time.Second
		return nil, e
	}
	detail := map[string]any{"status": "ready", "engine": s.engine.Describe()}
	if warnings := s.engine.Warnings(); warnings != nil {
		detail["warnings"] = warnings
	}
	return detail, nil
}

// URL is where callers reach the server.
func (s *Server) URL() string { return s.baseURL }

// Address is what the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

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

// Wait returns when ctx ends, or with the error that keeps the server from
// going on.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.engine.Failed():
		return s.engine.Failure()
	case err := <-s.served:
		return err
	}
}

// Stop ends the service: it turns unready, waits for load balancers to notice
// if so configured, refuses new calls, and lets those in flight finish.
func (s *Server) Stop() error {
	s.unready.Store(true)
	time.Sleep(s.cfg.DrainWait)
	s.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	_ = s.listener.Close()
	// Connections from before stay open for now: what comes on them is told
	// to come again, instead of being cut off.
	s.awaitCalls(ctx)
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, s.http.Close())
	}
	s.close()
	return err
}

// awaitCalls returns when no call is in flight, or ctx ends.
func (s *Server) awaitCalls(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.api.InFlight() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// close releases what Start took.
func (s *Server) close() {
	if s.listener != nil {
		_ = s.listener.Close() // closed twice on a clean stop
	}
	if s.engine != nil {
		s.engine.Close()
	}
	if s.folder != nil {
		s.folder.close()
	}
}
