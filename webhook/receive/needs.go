package receive

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/webhook/trust"
)

// Needs are what a receiver needs.
type Needs struct {
	Find       Find
	Trust      Trust
	Quarantine Quarantine // keeps calls that were rejected

	Events    sluice.Events
	Batches   sluice.Batches // of calls that bring several events
	Namespace string
	Redact    []string // further request headers to keep out of events, in lower case
	Bodies    *limit.Bodies
	Slots     *limit.Slots
	PublicURL string // where the result endpoint is redirected to; "" means this host

	// Answering ends when calls can't be answered any more.
	Answering context.Context //nolint:containedctx // what calls wait in outlives them

	// ResultWait is how long a call waits for the pipelines it starts.
	ResultWait time.Duration

	// Results finds results of calls that wait for longer than that. Lingering bounds how
	// many do; they are answered when Stopping is closed.
	Results   sluice.Results
	Lingering *limit.Slots
	Stopping  <-chan struct{}

	Observe func(sluice.Call) // gets to know of every call, after it was answered
	Log     *slog.Logger
	Spans   sluice.Spans
}

// Find finds the webhooks that are called.
type Find struct {
	sluice.WebhookFinder

	// Used is called with calls of webhooks that have, or had, several tokens.
	Used func(uuid, token string)
}

// Trust checks calls.
type Trust struct {
	*trust.Trusts

	BaseURL string // what senders put before the path: they sign the whole URL

	// Learn stores the signing secret that a sender has sent in its handshake,
	// on stable storage. Conflict if the webhook has another one by then.
	Learn func(ctx context.Context, token, secret string) error
}
