package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"sluice"
	"sluice/alert"
	"sluice/closed"
	"sluice/missed"
	"sluice/outward"
	"sluice/sender"
	"sluice/step"
	"sluice/webhook"
	"sluice/webhook/receive"
	"sluice/webhook/trust"
)

// newAlerts returns the alerts about what this server knows.
func (s *Server) newAlerts(webhooks *webhook.Store) *alert.Alerts {
	host := s.host()
	listener := &alert.Listener{Webhooks: webhooks.Expecting, Hours: s.minutes.ByWebhook}
	return alert.New(alert.Options{
		Records:   s.engine.Alerts,
		Events:    s.engine.Events,
		Namespace: s.cfg.Namespace,
		Host:      host,
		Log:       s.opts.Log,
		After:     s.opts.Timeouts.Alert,
		Conditions: func(ctx context.Context, now time.Time) ([]alert.Condition, error) {
			stats, err := s.stateOf(ctx)
			facts := alert.Facts{
				Stats: stats, Paused: make(map[string]bool), Silent: listener.Silent(now), MinFreeDisk: int64(s.cfg.MinFreeDisk), Host: host,
				Certificate: s.certificateWarnings(), Damage: s.engine.Damage(), Unwell: s.engine.Unwell(),
			}
			for _, p := range s.engine.Pipelines.All() {
				facts.Paused[p.Name] = p.Paused
			}
			var unlisted error
			facts.Quarantined, _, unlisted = s.engine.Quarantine.List(ctx, sluice.QuarantineQuery{From: alert.QuarantinedSince(now), Limit: 1000})
			return facts.Conditions(now), errors.Join(err, unlisted)
		},
	})
}

// host is the subject of alerts about this server, if there may be others.
func (s *Server) host() (name string) {
	if s.cfg.NATS != "" {
		name, _ = os.Hostname() // without one, servers share their alerts
	}
	return name
}

// newFinder returns what asks senders for calls that were missed.
func (s *Server) newFinder(webhooks *webhook.Store, secrets *step.Secrets, receiver *receive.Receiver) *missed.Finder {
	return missed.New(missed.Options{
		Webhook:  webhooks.WithKey,
		Webhooks: webhooks.Asked,
		Journal:  s.engine.Journal,
		Secret:   secrets.Reveal,
		Accept:   receiver.AcceptFetched,
		Runs:     s.engine.Missed,
		Public:   cmp.Or(s.opts.SenderTransport, http.RoundTripper(outward.Internet(s.cfg.HTTPAllow).Transport())),
		Plain:    outward.Only(s.cfg.HTTPAllow).Transport(),
		Log:      s.opts.Log,
	})
}

// newLedger returns the ledger of the times in which no calls are taken.
func (s *Server) newLedger(webhooks *webhook.Store) *closed.Ledger {
	return closed.New(closed.Options{
		Records: s.engine.Closed,
		Ready:   s.engine.Ready,
		Hours:   s.minutes.ByWebhook,
		Several: s.cfg.NATS != "",
		Queued:  s.opts.Listen != nil,
		Log:     s.opts.Log,
		Retries: func(eventKey string) string {
			hook, err := webhooks.WithKey(eventKey)
			if err != nil {
				return ""
			}
			if hook.Trust != nil {
				if preset, known := sender.Find(hook.Trust.Provider); known {
					return preset.Retries
				}
			}
			return "unknown"
		},
		Tell: func(ctx context.Context, message string) {
			s.opts.Log.Warn(message)
			if err := s.alerts.Raise(ctx, alert.Condition{Kind: sluice.AlertClosed, Subject: s.host(), Severity: sluice.SeverityWarning, Message: message}); err != nil {
				s.opts.Log.Warn("The alert about it can't be raised.", "error", err)
			}
		},
	})
}

// newTrusts returns the checks on calls of webhooks. They fetch what senders publish through
// the guarded transport that pipelines use.
func (s *Server) newTrusts(secrets *step.Secrets) *trust.Trusts {
	transport := s.opts.SenderTransport
	if transport == nil {
		transport = outward.Internet(s.cfg.HTTPAllow).Transport()
	}
	return trust.New(trust.Options{
		Secret: func(ctx context.Context, name string) (string, error) {
			if sluice.UserFrom(ctx).Name == "" { // a call needs it; users only look
				return secrets.Use(ctx, name)
			}
			return secrets.Reveal(ctx, name)
		},
		Keys:  sender.NewFetcher(transport),
		Fetch: confirm(transport),
		Log:   s.opts.Log,

		ClientCertificates: s.certificateSource(),
	})
}

// certificateSource returns where the certificates of callers are. A proxy that is told to
// pass them on is the client of our own HTTPS.
func (s *Server) certificateSource() trust.CertificateSource {
	switch {
	case s.cfg.ClientCertificateHeader != "":
		return trust.CertificateSource(http.CanonicalHeaderKey(s.cfg.ClientCertificateHeader))
	case s.certificate != nil:
		return trust.FromConnection
	}
	return trust.NoCertificates
}

// confirmTimeout bounds how long a sender may take to confirm a handshake.
const confirmTimeout = 5 * time.Second

// confirm returns a function that fetches a handshake's confirmation URL.
func confirm(transport http.RoundTripper) func(ctx context.Context, address string) error {
	client := outward.Client(transport, confirmTimeout)
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the sender answers %s", response.Status)
		}
		return nil
	}
}
