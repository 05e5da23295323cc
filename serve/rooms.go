package serve

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/api"
	"sluice/body"
	"sluice/command"
	"sluice/config"
	"sluice/event"
	"sluice/expression"
	"sluice/iam"
	"sluice/jetstream"
	"sluice/metrics"
	"sluice/pipeline"
	"sluice/portal"
	"sluice/step"
	"sluice/trace"
	"sluice/webhook"
)

// rooms are the parts of a server that its settings and its engine make.
type rooms struct {
	engine    *jetstream.Engine
	metrics   *metrics.Metrics
	spans     sluice.Spans // nil: nobody wants them
	minutes   *metrics.Minutes
	directory *iam.Directory
	login     *iam.Authenticator
	issuer    http.Handler // nil with an external provider
	receiver  *webhook.Receiver
	secrets   *step.Secrets
	runner    *pipeline.Runner
	commands  command.Set
	draining  func() bool // the server stops
}

// Commands lists every command of the service, for those who want to read about
// them: none can be called.
func Commands() command.Set {
	r := &rooms{engine: new(jetstream.Engine), directory: new(iam.Directory), secrets: new(step.Secrets)}
	r.join(config.Config{}, "", Options{})
	return r.commands
}

// join makes the commands, and the runner of pipelines that are made of them.
func (r *rooms) join(cfg config.Config, baseURL string, opts Options) {
	functions := make(map[string]expression.Function)
	for name, function := range step.Functions() {
		functions[name] = function
	}
	r.runner = pipeline.NewRunner(pipeline.Runner{
		Commands: func() command.Set { return r.commands },
		Language: expression.NewLanguage(functions),
		Store:    r.engine.Pipelines(),
		Queue:    r.engine.Queue(),
		Events:   r.engine.Events(),
		Letters:  r.engine.DeadLetters(),
		User:     r.directory.User,
		Owner: func(ctx context.Context, p *sluice.Pipeline) (sluice.User, error) {
			return r.directory.Owner(ctx, p.Owner, p.Roles)
		},
		Secret:  r.secrets.Reveal,
		Limits:  pipeline.Limits{RunTime: cfg.RunTimeout},
		MaxRuns: cfg.MaxRuns,
		Grace:   runGrace,
		Observe: r.observeRun,
		Spans:   r.spans,
		Log:     opts.Log,
	})
	r.commands = command.NewSet(
		r.directory.Note,
		webhook.Commands(r.engine.Webhooks(), baseURL, r.receiver),
		event.Commands(event.Options{
			Events:    r.engine.Events(),
			Stored:    r.engine.Events(),
			Log:       r.engine.Events(),
			Journal:   r.engine.Journal(),
			Namespace: cfg.Namespace,
			Draining:  r.draining,
		}),
		trace.Commands(r.engine.Journal(), r.engine.Events()),
		pipeline.Commands(r.runner),
		step.Commands(step.Options{Log: opts.Log, Secrets: r.secrets, HTTP: step.HTTPOptions{AllowNetworks: cfg.HTTPAllow, Propagate: r.propagate}}),
		iam.Commands(r.directory, r.login),
		[]command.Command{infoCommand(cfg.Namespace, r.engine.Describe), statsCommand(r)},
	)
	r.directory.CommandNames = r.commands.Names
}

// runGrace is how long runs of pipelines may go on when the server stops.
const runGrace = 5 * time.Second

// propagate tells the server that a pipeline calls which work it belongs to.
func (r *rooms) propagate(ctx context.Context, header http.Header) {
	if r.spans == nil {
		return
	}
	if traceparent := r.spans.Traceparent(ctx); traceparent != "" {
		header.Set("Traceparent", traceparent)
	}
}

func (r *rooms) observeRun(report sluice.RunReport) {
	r.metrics.Run(report)
	r.minutes.Run(report)
	r.engine.Journal().Run(report)
}

func (r *rooms) observeCall(call sluice.Call) {
	r.metrics.Call(call)
	r.minutes.Call(call)
	r.engine.Journal().Call(call)
}

// furnish makes the rooms of a server.
func (s *Server) furnish() error {
	key, err := s.secretKey()
	if err != nil {
		return err
	}
	r := &rooms{engine: s.engine, metrics: s.metrics, spans: s.spans(), draining: s.draining, minutes: metrics.NewMinutes(s.engine.Minutes(), s.opts.Log)}
	if r.secrets, err = step.NewSecrets(s.engine.Secrets(), key); err != nil {
		return err
	}
	r.directory = iam.NewDirectory(iam.Directory{
		Accounts: s.engine.Accounts(),
		Roles:    s.engine.Roles(),
		Clients:  s.engine.Clients(),
		Audit:    s.engine.Audit(),
		Log:      s.opts.Log,
		Cores:    s.cfg.PasswordCores,
	})
	var outside portal.Provider
	r.login, r.issuer, outside = s.authentication(r.directory)
	pace := body.Pace{Idle: s.cfg.BodyIdleTimeout, Total: s.cfg.BodyTimeout, Rate: int(s.cfg.BodyMinRate)}
	budget := body.NewBudget(int64(s.cfg.MaxBodyMemory))
	publicURL := strings.TrimSuffix(s.cfg.PublicURL, "/")
	r.receiver = webhook.NewReceiver(webhook.Receiver{
		Webhooks:   s.engine.Webhooks(),
		Events:     s.engine.Events(),
		Namespace:  s.cfg.Namespace,
		PublicURL:  publicURL,
		Redact:     s.cfg.RedactHeaders,
		Pace:       pace,
		Budget:     budget,
		ResultWait: s.cfg.ResultWait,
		Observe:    r.observeCall,
		Spans:      r.spans,
		Log:        s.opts.Log,
	})
	r.join(s.cfg, s.baseURL, s.opts)
	authenticate := r.login.Authenticate
	if s.opts.NoAuth {
		authenticate = everyoneIsAdmin
	}
	s.rooms = r
	s.api = api.New(api.Options{
		Commands:        r.commands,
		Results:         s.engine.Events(),
		Authenticate:    authenticate,
		Auth:            r.issuer,
		Portal:          s.servePortal,
		Metrics:         s.metrics.Handler(),
		ObservePoll:     s.metrics.Poll,
		Spans:           r.spans,
		Readiness:       s.readiness,
		Stopping:        s.stopping,
		Tail:            s.engine.Journal(),
		Version:         Version,
		BaseURL:         s.baseURL,
		OpenID:          s.openID(),
		PublicURL:       publicURL,
		TrustedProxies:  s.cfg.TrustedProxies,
		ForwardedHeader: s.cfg.ForwardedHeader,
		MaxInFlight:     s.cfg.MaxInFlight,
		Pace:            pace,
		Budget:          budget,
		Log:             s.opts.Log,
	})
	return s.openPortal(outside)
}

// secretKey gives the key that seals secrets: the operator's, or one that is
// made once in the data folder.
func (s *Server) secretKey() ([]byte, error) {
	if s.cfg.SecretKey != "" {
		key, err := step.ParseKey(s.cfg.SecretKey)
		if err != nil {
			e := sluice.AsError(err)
			return nil, sluice.Errorf(e.Kind, e.Code, "secret-key: %s", e.Message)
		}
		return key, nil
	}
	text, err := s.folder.secretKey()
	if err != nil {
		return nil, err
	}
	return step.ParseKey(text)
}

// engineState is the state of the engine as the metrics show it.
func (s *Server) engineState() metrics.State {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	state := metrics.State{Ready: s.engine.Ready() == nil}
	stats, err := s.engine.Stats(ctx)
	if err != nil {
		s.opts.Log.Warn("The metrics of the engine can't be read.", "error", err)
	}
	state.FreeDisk, state.Events, state.EventBytes = stats.FreeDisk, stats.Events, stats.EventBytes
	state.DeadLetters, state.Results, state.Webhooks = stats.DeadLetters, stats.Results, stats.Webhooks
	state.Lost = stats.Lost
	state.Unrecorded = stats.Unrecorded
	for _, b := range stats.Backlogs {
		state.Waiting = append(state.Waiting, metrics.Waiting{Pipeline: b.Pipeline, Events: b.Events, Oldest: b.Oldest})
	}
	return state
}
