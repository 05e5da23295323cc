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
		Queued:  s.Listen != nil,
		Log:     s.Log,
		Retries: func(eventKey string) string {
			hook, err := s.webhooks.WithKey(eventKey)
			if err != nil {
				return ""
			}
			return cmp.Or(sender.Of(&hook).Retries, "unknown")
		},
		Tell: func(ctx context.Context, message string) {
			s.Log.Warn(message)
			if err := s.alerts.Raise(ctx, alert.Condition{
				Kind: sluice.AlertClosed, Subject: s.host(), Severity: sluice.SeverityWarning, Cause: message,
			}); err != nil {
				s.Log.Warn("The alert about it can't be raised.", "error", err)
			}
		},
	})
}
