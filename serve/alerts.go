package serve

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"sluice"
	"sluice/alert"
)

// newAlerts returns the alerts about what this server knows.
func (s *Server) newAlerts() *alert.Alerts {
	host := s.host()
	listener := &alert.Listener{Webhooks: s.webhooks.Expecting, Hours: s.minutes.ByWebhook}
	return alert.New(alert.Options{
		Records:   s.engine.Alerts,
		Rules:     s.engine.AlertRules,
		Events:    s.engine.Events,
		Namespace: s.cfg.Namespace,
		Host:      host,
		PublicURL: s.publicURL(),
		Log:       s.Log,
		Hours:     s.minutes.ByWebhook,
		After:     s.Timeouts.Alert,
		Quiet: func() bool {
			return slices.ContainsFunc(s.engine.Pipelines.All(), func(p *sluice.Pipeline) bool { return p.Quiet })
		},
		Conditions: func(ctx context.Context, now time.Time) ([]alert.Condition, error) {
			stats, err := s.stateOf(ctx)
			facts := alert.Facts{
				Stats: stats, Paused: make(map[string]bool), Silent: listener.Silent(now), Asked: s.engine.Missed.All(),
				MinFreeDisk: int64(s.cfg.MinFreeDisk), Host: host,
				Certificate: s.certificateWarnings(), Damage: s.engine.Damage(), Unwell: s.engine.Unwell(),
			}
			for _, p := range s.engine.Pipelines.All() {
				facts.Paused[p.Name] = p.Paused
			}
			var unlisted error
			facts.Quarantined, _, unlisted = s.engine.Quarantine.List(ctx,
				sluice.QuarantineQuery{From: alert.QuarantinedSince(now), Limit: 1000})
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
