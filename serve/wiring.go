package serve

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/api"
	"sluice/event"
	"sluice/iam"
	"sluice/jetstream/journal"
	"sluice/limit"
	"sluice/metrics"
	"sluice/pipeline"
	"sluice/pipeline/run"
	"sluice/portal"
	"sluice/quarantine"
	"sluice/step"
	"sluice/webhook"
	"sluice/webhook/receive"
)

// wire makes the parts of a server and joins them.
func (s *Server) wire() {
	s.uses = newUses(s.engine, s.Log)
	s.secrets = step.NewSecrets(s.engine.Secrets, s.uses.secrets.Note)
	s.failing = metrics.NewFailing(s.engine.PipelineStates, s.Log)
	s.minutes = metrics.NewMinutes(s.engine.Minutes, s.engine.Hours, s.engine.Unfinished, s.Log)
	s.minutes.FormerRun = s.failing.Former
	s.directory = s.newDirectory()
	issuer, provider := s.authentication()
	s.webhooks = webhook.NewStore(s.engine.Webhooks)
	s.minutes.Expects = s.webhooks.Expects
	s.computing = limit.NewComputing()
	s.trusts = s.newTrusts()
	s.webhooks.MaxKeep, s.webhooks.Trusts, s.webhooks.BaseURL = s.cfg.EventMaxAge, s.trusts, s.baseURL
	s.slots, s.bodies = limit.NewSlots(s.cfg.MaxInFlight), s.newBodies()
	s.engine.Journal.BoundSearches(limit.NewMemory(sharesOf(s.cfg).searches, s.pressure))
	s.receiver = s.newReceiver()
	s.keeper = quarantine.NewKeeper(quarantine.Options{
		Store: s.engine.Quarantine, Receiver: s.receiver, Log: s.Log, Seen: s.directory.NotePayload,
	})
	s.receiver.Quarantine = s.keeper
	s.alerts, s.ledger, s.finder = s.newAlerts(), s.newLedger(), s.newFinder()
	s.declareCommands(s.eventOptions(), s.runnerOptions(), step.Options{
		Log: s.Log, Secrets: s.secrets, HTTP: step.HTTPOptions{
			AllowNetworks: s.cfg.HTTPAllow, Spans: s.spans,
		}, Mail: step.MailOptions{Server: s.cfg.MailServer(), From: s.cfg.MailFrom, AllowNetworks: s.cfg.HTTPAllow},
	})
	s.users = limit.NewShares[string](max(1, s.cfg.MaxInFlight/8))
	s.api = s.newAPI(issuer, s.newPortal(provider))
}

// maxLingering is how many calls may wait for longer than result-wait, as many as polls are held.
const maxLingering = 2048

func (s *Server) newAPI(issuer http.Handler, pages *portal.Portal) *api.API {
	o := api.Options{
		Commands:        s.commands,
		Results:         s.engine.Results,
		Authenticate:    s.login.Authenticate,
		Auth:            issuer,
		Portal:          pages.Serve,
		Metrics:         s.metrics.Handler(),
		ObservePoll:     s.metrics.Poll,
		Spans:           s.spans,
		Readiness:       s.readiness,
		Stopping:        s.stopping,
		PollHold:        s.Timeouts.PollHold,
		Tail:            s.engine.Journal,
		Version:         Version,
		BaseURL:         s.baseURL,
		OpenID:          s.openID(),
		Agents:          api.Agents{Enabled: s.cfg.MCP, Changes: s.cfg.MCPChanges, Issuer: s.issuerURL()},
		PublicURL:       s.publicURL(),
		TrustedProxies:  s.cfg.TrustedProxies,
		ForwardedHeader: s.cfg.ForwardedHeader,
		CertHeader:      http.CanonicalHeaderKey(s.cfg.ClientCertificateHeader),
		CORSOrigins:     s.cfg.CORSOrigins,
		Slots:           s.slots,
		Users:           s.users,
		Bodies:          s.bodies,
		Streams:         s.newStreams(),
		Log:             s.Log,
	}
	if s.NoAuth {
		o.Authenticate = everyoneIsAdmin
	}
	return api.New(o)
}

func (s *Server) newDirectory() *iam.Directory {
	return iam.NewDirectory(iam.DirectoryOptions{
		Accounts:     s.engine.Accounts,
		Roles:        s.engine.Roles,
		Clients:      s.engine.Clients,
		Audit:        s.engine.Audit,
		Copy:         s.auditCopy(),
		UserUsed:     s.uses.accounts.Note,
		ClientUsed:   s.uses.clients.Note,
		Started:      s.admin.Load,
		Log:          s.Log,
		External:     s.cfg.AuthIssuer != "",
		CommandNames: func() []string { return s.commands.Names() },

		GlobalCommands: func() []string { return s.commands.Global() },
		EndSessions: func(ctx context.Context, username, clientID string) error {
			return endSessions(ctx, s.engine, username, clientID)
		},
		RotateKey: func(ctx context.Context) (string, time.Time, error) { return s.issuer.RotateKey(ctx) },
	})
}

func (s *Server) newReceiver() *receive.Receiver {
	return receive.New(receive.Needs{
		Find:  receive.Find{WebhookFinder: s.webhooks, Used: s.uses.webhooks.NotePart},
		Trust: receive.Trust{Trusts: s.trusts, BaseURL: s.baseURL, Learn: s.webhooks.Learn},

		Events:     s.engine.Events,
		Batches:    s.engine.Batches,
		Namespace:  s.cfg.Namespace,
		Redact:     s.cfg.RedactHeaders,
		Bodies:     s.bodies,
		Slots:      s.slots,
		PublicURL:  s.publicURL(),
		Answering:  s.answering,
		ResultWait: s.cfg.ResultWait,
		Results:    s.engine.Results,
		Lingering:  limit.NewSlots(maxLingering),
		Stopping:   s.stopping,
		Observe:    s.observeCall,
		Log:        s.Log,
		Spans:      s.spans,
	})
}

func (s *Server) eventOptions() event.Options {
	return event.Options{
		Events:     s.engine.Events,
		Stored:     s.engine.Stored,
		Journal:    s.engine.Journal,
		Waiting:    s.engine.Queue,
		Work:       s.engine.Queue.Waiting.Work,
		Quarantine: s.engine.Quarantine,
		Erasures:   s.engine.Erasures,
		Note:       s.directory.Note,
		Namespace:  s.cfg.Namespace,
		Stopping:   s.stopping,
		Seen:       s.directory.NotePayload,
	}
}

func (s *Server) runnerOptions() pipeline.RunnerOptions {
	return pipeline.RunnerOptions{
		Store:      s.engine.Pipelines,
		History:    s.engine.Versions,
		Tickings:   s.engine.Tickings,
		Queue:      s.engine.Queue,
		Events:     s.engine.Events,
		Letters:    s.engine.DeadLetters,
		Journal:    s.engine.Journal,
		Results:    s.engine.Results,
		Namespace:  s.cfg.Namespace,
		User:       s.directory.User,
		Owner:      s.directory.Owner,
		Note:       s.directory.Note,
		Seen:       s.directory.NotePayload,
		Secret:     s.secrets.Reveal,
		UseSecret:  s.secrets.Use,
		NearestKey: s.webhooks.NearestKey,
		Base64Key:  s.webhooks.Base64Key,
		Limits: run.Limits{
			RunTime: s.cfg.RunTimeout, Shared: limit.NewMemory(sharesOf(s.cfg).values, s.pressure),
			Computing: s.computing,
		},
		MaxRuns: s.cfg.MaxRuns,
		Grace:   func() (context.Context, context.CancelFunc) { return s.atMost(s.cfg.RunGrace) },
		Observe: s.observeRun,
		Passed:  s.minutes.Passed,
		Spans:   s.spans,
		Log:     s.Log,
	}
}

func (s *Server) observeRun(report sluice.RunReport) {
	if report.Status != sluice.StatusSuperseded { // otherwise nothing ran
		s.metrics.Run(report)
		s.minutes.Run(report)
		s.failing.Run(report)
	}
	s.engine.Journal.Hear(journal.Ran{RunReport: report})
}

func (s *Server) observeCall(call sluice.Call) {
	if !call.Unlisted {
		s.engine.Journal.Hear(journal.Answered{Call: call})
	}
	if call.Split != nil {
		return // its events are counted
	}
	s.metrics.Call(call)
	if own, differs := call.Rejected(); differs {
		s.engine.Journal.Hear(journal.Answered{Call: own})
		s.minutes.Call(own)
	} else if !call.Duplicate {
		s.minutes.Call(call)
	}
}

func (s *Server) observeEnd(end sluice.CallEnd) {
	if !end.Sent {
		s.metrics.CallEnded(end.EventKey, end.Status)
	}
	s.minutes.Settled(end)
}

func (s *Server) newBodies() *limit.Bodies {
	memory := sharesOf(s.cfg)
	return limit.NewBodies(limit.BodyOptions{
		Pace:       limit.Pace{Idle: s.Timeouts.BodyIdle, Total: s.cfg.BodyTimeout, Rate: leastRate},
		Known:      memory.bodies,
		Strange:    memory.strangers,
		Answers:    memory.answers,
		Unfinished: s.cfg.MaxConnectionsPerAddress,
		Pressure:   s.pressure,
	})
}

// newStreams bounds the streams of HTTP/2. One connection may have all of its own.
func (s *Server) newStreams() *limit.Streams {
	total := max(s.cfg.MaxConnections/4, maxStreams)
	return limit.NewStreams(total, max(total/4, maxStreams), s.Timeouts.Write)
}

// publicURL is the start of URLs in redirects; "" means the called host.
func (s *Server) publicURL() string { return strings.TrimSuffix(s.cfg.PublicURL, "/") }
