// Package missed asks senders what they have sent, and gets what was not accepted here:
// webhook.missed, and missedEvery of a webhook; and whether they still call: webhook.check and
// checkEvery. Each sender is an entry in providers.yaml.
package missed

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice"
)

const (
	maxDeliveries = 10_000
	defaultSpan   = 24 * time.Hour
	lookBack      = 72 * time.Hour // for calls of deliveries that were first sent earlier: senders try for days
)

// Options are what a Finder needs.
type Options struct {
	Webhook  func(eventKey string) (sluice.Webhook, error)
	Webhooks func() []*sluice.Webhook // those that are asked about by themselves
	Journal  sluice.Journal
	Secret   sluice.Lookup[string]
	// makes an event of a fetched one
	Accept func(ctx context.Context, hook sluice.Webhook, body []byte) (sluice.Result, error)
	Runs   sluice.Records[sluice.MissedRun]
	Public http.RoundTripper // for https
	Plain  http.RoundTripper // for http: only to networks that the operator names
	Log    *slog.Logger

	BaseURL  string        // that senders should call
	Patience time.Duration // that others have with a sender; 0: the usual one
}

// A Finder asks senders what they have sent.
type Finder struct {
	Options
	users *semaphore.Weighted // who ask now
	slow  sync.Map            // the webhooks whose senders are slow, by UUID
}

// New returns a finder. Nothing is asked by itself until Run runs.
func New(o Options) *Finder {
	o.Patience = cmp.Or(o.Patience, patience)
	return &Finder{Options: o, users: semaphore.NewWeighted(atOnce)}
}

// enter returns a webhook, and takes one of the places of users who ask senders.
func (f *Finder) enter(eventKey string) (hook sluice.Webhook, leave func(), err error) {
	if hook, err = f.Webhook(eventKey); err != nil {
		return hook, nil, err
	}
	if !f.users.TryAcquire(1) {
		return hook, nil, sluice.CodeTooManyCalls.Errorf(
			"As many senders are asked now as may be at the same time. Try again when some have answered.").
			After(time.Minute)
	}
	return hook, func() { f.users.Release(1) }, nil
}

type params struct {
	EventKey string    `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
	From     time.Time `json:"from" audit:"yes" doc:"What was sent at this time or later. Default: 24 hours ago."`
	To       time.Time `json:"to" doc:"What was sent before this time. Default: now."`
	DryRun   bool      `json:"dryRun" audit:"yes" doc:"Only find out what is missing."`
}

func (f *Finder) missed(ctx context.Context, p params) (found sluice.Missed, _ error) {
	to := cmp.Or(p.To, time.Now())
	from := cmp.Or(p.From, to.Add(-defaultSpan))
	if !from.Before(to) {
		return found, sluice.InvalidParameter("from", "The parameter from must be before to.")
	}
	hook, leave, err := f.enter(p.EventKey)
	if err != nil {
		return found, err
	}
	defer leave()
	return f.Find(ctx, askTime, hook, from, to, p.DryRun)
}
