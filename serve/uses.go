package serve

import (
	"log/slog"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/metrics"
)

// uses are when accounts, clients and secrets were last used.
type uses struct {
	accounts *metrics.Uses[sluice.Account]
	clients  *metrics.Uses[sluice.Client]
	secrets  *metrics.Uses[sluice.Secret]
}

func newUses(e *jetstream.Engine, log *slog.Logger) *uses {
	return &uses{
		accounts: metrics.NewUses(e.Accounts(), func(a *sluice.Account) *time.Time { return &a.Used }, log),
		clients:  metrics.NewUses(e.Clients(), func(c *sluice.Client) *time.Time { return &c.Used }, log),
		secrets:  metrics.NewUses(e.Secrets(), func(s *sluice.Secret) *time.Time { return &s.Used }, log),
	}
}
