package serve

import (
	"cmp"
	"context"

	"sluice"
	"sluice/alert"
	"sluice/closed"
	"sluice/sender"
)

// newLedger returns the ledger of the times in which no calls are taken.
func (s *Server) newLedger() *closed.Ledger {
	return closed.New(closed.Options{
		Records: s.engine.Closed,
		Ready:   s.engine.Ready,
		Hours:   s.minutes.ByWebhook,
		Several: s.cfg.NATS != "",
		Queued:  s.opts.Listen != nil,
		Log:     s.opts.Log,
		Retries: func(eventKey string) string {
			hook, err := s.webhooks.WithKey(eventKey)
			if err != nil {
				return ""
			}
			return cmp.Or(sender.Of(&hook).Retries, "unknown")
		},
		Tell: func(ctx context.Context, message string) {
			s.opts.Log.Warn(message)
			if err := s.alerts.Raise(ctx, alert.Condition{
				Kind: sluice.AlertClosed, Subject: s.host(), Severity: sluice.SeverityWarning, Cause: message,
			}); err != nil {
				s.opts.Log.Warn("The alert about it can't be raised.", "error", err)
			}
		},
	})
}
