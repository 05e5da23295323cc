// Package serve joins the packages to one running service: wiring.go makes the parts, and
// commands.go lists their commands. The command line, the benchmarks and the torture tests
// all start it through Start, so they measure what is shipped.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/alert"
	"sluice/api"
	"sluice/closed"
	"sluice/command"
	"sluice/config"
	"sluice/durable"
	"sluice/iam"
	"sluice/jetstream"
	"sluice/lane"
	"sluice/limit"
	"sluice/metrics"
	"sluice/missed"
	"sluice/oidc"
	"sluice/pipeline"
	"sluice/quarantine"
	"sluice/step"
	"sluice/telemetry"
	"sluice/webhook"
	"sluice/webhook/receive"
	"sluice/webhook/trust"
)

// Options are what a server needs beside its settings.
type Options struct {
	AdminPassword string             // for the first start; "" generates one
	Sync          jetstream.SyncMode // for benchmarks and torture tests
	NoAuth        bool               // for benchmarks: every call is the admin's
	Log           *slog.Logger
	AuditLog      io.Writer       // for the copies of --audit-log; nil: standard error
	Hurry         <-chan struct{} // closed when a stop must not wait any longer; may be nil

	// Listen returns a socket that is there already; nil means one on the address of the settings.
	Listen func() (net.Listener, error)

	// Doors and Timeouts are set by tests; 0 means the usual ones.
	Doors    Doors
	Timeouts Timeouts

	// SenderTransport replaces the Internet in tests, where senders publish their keys.
	// nil means the guarded transport that pipelines use.
	SenderTransport http.RoundTripper
}

// Doors are the addresses of --domain, for HTTPS and for redirects, and the way to the ACME
// server: "" means :443 and :80, and nil the Internet.
type Doors struct {
	HTTPS, HTTP string
	ACME        http.RoundTripper
}

// A Server is a running service.
type Server struct {
	Options

	cfg         config.Config
	pressure    *limit.Pressure
	folder      *durable.Folder // nil with an external engine
	engine      *jetstream.Engine
	metrics     *metrics.Metrics
	telemetry   *telemetry.Spans // nil: no spans are sent
	spans       sluice.Spans     // the same for those who report them
	minutes     *metrics.Minutes
	uses        *uses
	failing     *metrics.Failing
	keeper      *quarantine.Keeper
	alerts      *alert.Alerts
	ledger      *closed.Ledger
	finder      *missed.Finder
	directory   *iam.Directory
	login       *iam.Authenticator
	issuer      *oidc.Issuer // nil with an external provider
	webhooks    *webhook.Store
	secrets     *step.Secrets
	trusts      *trust.Trusts
	receiver    *receive.Receiver
	commands    command.Set
	runner      *pipeline.Runner
	slots       *limit.Slots          // for all calls
	computing   *limit.Computing      // of what computes for long
	users       *limit.Shares[string] // of them
	bodies      *limit.Bodies         // of them
	api         *api.API
	http        *http.Server
	certificate certificates    // nil without TLS
	domains     *domains        // nil without --domain
	socket      net.Listener    // as the system has it
	connections *limit.Listener // bounds its connections
	listener    net.Listener
	lane        *lane.Lane
	baseURL     string
	demo        bool       // what it has is made up
	served      chan error // errors that end the server

	answering     context.Context //nolint:containedctx // ends when calls can't be answered any more
	stopAnswering context.CancelFunc
	stopRuns      context.CancelFunc // nil: there are none
	stopWork      context.CancelFunc // nil: there is none
	work          sync.WaitGroup     // in the background
	beside        []*http.Server     // with addresses of their own: metrics, redirects to HTTPS

	admin    atomic.Bool // there is an admin, or an external provider has the users
	unready  atomic.Bool
	stopping chan struct{} // closed when the server begins to stop
	stopOnce sync.Once     // closes it
	drained  time.Time     // when the port was closed
	last     string        // why no calls are taken any more; "" if the server has not begun to
}

// Start opens the engine and serves. When it returns, the server is ready, or says at
// /readyz what it waits for.
func Start(ctx context.Context, cfg config.Config, opts Options) (_ *Server, err error) {
	cfg = withFiles(withMemory(cfg), limit.Files(), opts.Log)
	opts.Timeouts = opts.Timeouts.orUsual()
	s := &Server{
		Options: opts, cfg: cfg, pressure: limit.NewPressure(int64(cfg.MemoryLimit)), served: make(chan error, 2),
		stopping: make(chan struct{}),
	}
	s.answering, s.stopAnswering = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	if s.certificate, err = checkFiles(cfg, opts.Log); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		s.openFolder, s.listen, s.startTelemetry, s.openEngine, s.checkAdminPassword, s.startWork,
		s.startMetrics, s.openDoors,
	} {
		if err = step(ctx); err != nil {
			return nil, err
		}
	}
	s.lane = s.newLane()
	go s.serve(s.lane)
	return s, nil
}

// checkFiles checks the key and the certificate, and returns the latter if there is one.
func checkFiles(cfg config.Config, log *slog.Logger) (certificates, error) {
	if err := checkKey(cfg); err != nil || cfg.TLSCert == "" {
		return nil, err
	}
	c := &certificate{certFile: cfg.TLSCert, keyFile: cfg.TLSKey, log: log}
	return c, c.load()
}

// openFolder opens the data folder, unless an external engine has the data.
func (s *Server) openFolder(context.Context) (err error) {
	if err = checkDemo(s.cfg); err == nil && s.cfg.NATS == "" {
		s.folder, err = durable.OpenFolder(s.cfg.Data)
	}
	if err == nil {
		s.demo, err = s.isDemo()
	}
	if err == nil {
		warnOfModes(s.cfg, s.Log)
	}
	return err
}

// openEngine opens the engine, and makes the parts that work on it.
func (s *Server) openEngine(ctx context.Context) (err error) {
	s.metrics = metrics.New(Version, s.stats)
	if s.engine, err = jetstream.Open(ctx, s.engineOptions()); err != nil {
		return engineError(err)
	}
	if len(s.cfg.Domain) > 0 {
		s.domains = s.newDomains()
		s.certificate = s.domains
	}
	s.wire()
	s.http = s.httpServer()
	return nil
}

// engineError is the error of an engine that does not start. Our own errors say what to do,
// and need no prefix.
func engineError(err error) error {
	if ours, ok := errors.AsType[*sluice.Error](err); ok && ours.Kind == sluice.Invalid {
		return errors.New(ours.Message)
	}
	return fmt.Errorf("can't start the engine: %w", err)
}

func (s *Server) engineOptions() jetstream.Options {
	opts := jetstream.Options{
		Box: boxOf(s.cfg, s.folder),
		SealEvents: s.cfg.SealEvents == "true" ||
			s.cfg.SealEvents == "auto" && s.cfg.NATS == "" && keyIsElsewhere(s.cfg),
		URL:            s.cfg.NATS,
		Credentials:    s.cfg.NATSCredentials,
		Replicas:       s.cfg.NATSReplicas,
		SyncsAlways:    s.cfg.NATSSync == "always",
		EventMaxAge:    s.cfg.EventMaxAge,
		EventMaxBytes:  int64(s.cfg.EventMaxBytes),
		MinFreeDisk:    int64(s.cfg.MinFreeDisk),
		ResultTTL:      s.cfg.ResultTTL,
		ResultMaxCount: int64(s.cfg.ResultMaxCount),
		ResultMaxBytes: int64(s.cfg.ResultMaxBytes),
		RunMemory:      sharesOf(s.cfg).events,
		WaitingMemory:  sharesOf(s.cfg).waiting,
		RecordMemory:   sharesOf(s.cfg).records,
		DeliveryMemory: sharesOf(s.cfg).deliveries,
		Version:        Version,
		Sync:           s.Sync,
		AckWait:        s.Timeouts.Ack,
		Log:            s.Log,
		ObserveBatch:   s.metrics.Batch,
		ObserveEnd:     s.observeEnd,
		ObserveSent:    func(traceID string) { s.minutes.Sent(traceID) },
	}
	if s.cfg.NATS != "" && s.cfg.Spool && s.cfg.Data != "" {
		opts.SpoolDir, opts.SpoolMaxBytes = filepath.Join(s.cfg.Data, "spool"), int64(s.cfg.SpoolMaxBytes)
	}
	if s.folder != nil {
		opts.Dir = s.folder.Store()
	}
	return opts
}

// readiness returns details for operators, or an error while the server takes no calls.
func (s *Server) readiness() (map[string]any, error) {
	if s.unready.Load() {
		return nil, api.Draining()
	}
	if err := s.engine.Ready(); err != nil {
		return nil, err
	}
	if !s.admin.Load() {
		return nil, sluice.CodeStarting.Errorf("The server is starting.").After(time.Second)
	}
	detail := map[string]any{"status": "ready", "engine": s.engine.Description}
	if waiting := s.engine.Spooled(); waiting > 0 {
		detail["spooled"] = waiting
	}
	if warnings := append(s.engine.Warnings(), s.certificateWarnings()...); warnings != nil {
		detail["warnings"] = warnings
	}
	return detail, nil
}

// URL is where callers reach the server.
func (s *Server) URL() string { return s.baseURL }

// Address is what the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Wait returns when ctx ends, or with the error that ends the server.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.engine.Failed():
		return engineError(s.engine.Failure())
	case err := <-s.served:
		return err
	}
}

// startWork starts the background work: it stores figures, loads the operator's folder of
// pipelines, and runs pipelines for events. Pipelines wait until an external engine is set
// up.
func (s *Server) startWork(ctx context.Context) error {
	var running, serving context.Context
	running, s.stopWork = context.WithCancel(context.WithoutCancel(ctx))
	serving, s.stopRuns = context.WithCancel(running)
	dir := s.cfg.Pipelines
	if s.cfg.NATS == "" && dir != "" {
		if err := s.runner.SyncFolder(ctx, dir); err != nil {
			return fmt.Errorf("pipelines: %w", err)
		}
	}
	if last, crashed := s.ledger.Crashed(ctx); crashed && s.cfg.NATS == "" {
		recount := s.minutes.Recount(s.engine.Journal, s.engine.StoredBefore(), s.engine.Repaired, last)
		s.work.Go(func() {
			if recount(running) {
				s.ledger.Counted()
			}
		})
	}
	for _, work := range []func(context.Context){
		s.minutes.Keep, s.failing.Keep, s.uses.accounts.Keep, s.uses.clients.Keep, s.uses.secrets.Keep,
		s.uses.webhooks.Keep, s.keeper.Run, s.ledger.Run,
	} {
		s.work.Go(func() { work(running) })
	}
	s.work.Go(func() {
		if s.untilSetUp(serving) != nil {
			return
		}
		if dir != "" {
			s.work.Go(func() { s.runner.WatchFolder(serving, dir) })
		}
		s.work.Go(func() { s.alerts.Run(serving) })
		s.work.Go(func() { s.finder.Run(serving) })
		s.work.Go(func() { s.runner.KeepTime(serving) })
		if err := s.runner.Serve(serving); err != nil {
			s.Log.Error("Pipelines don't run any more.", "error", err)
		}
	})
	return nil
}
