// Package missed asks senders what they have sent, and gets what was not accepted here:
// webhook.missed, and missedEvery of a webhook. Each sender is an entry in providers.
package missed

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/outward"
	"sluice/sender"
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
	Secret   func(ctx context.Context, name string) (string, error)
	Take     func(ctx context.Context, hook sluice.Webhook, body []byte) (sluice.Result, error) // makes an event of a fetched one
	Runs     sluice.Records[sluice.MissedRun]
	Public   http.RoundTripper // for https
	Plain    http.RoundTripper // for http: only to networks that the operator names
	Log      *slog.Logger
}

// A Finder asks senders what they have sent.
type Finder struct{ Options }

// New returns a finder. Nothing is asked by itself until Run runs.
func New(o Options) *Finder { return &Finder{o} }

type params struct {
	EventKey string    `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
	From     time.Time `json:"from" audit:"yes" doc:"What was sent at this time or later. Default: 24 hours ago."`
	To       time.Time `json:"to" doc:"What was sent before this time. Default: now."`
	DryRun   bool      `json:"dryRun" audit:"yes" doc:"Only find out what is missing."`
}

// Commands returns the command webhook.missed. missing is the error of a webhook that is not
// there.
func Commands(f *Finder, missing func(ctx context.Context, parameter, name string) error) []command.Command {
	return []command.Command{command.New("webhook.missed",
		"Ask the sender of a webhook for its own list of deliveries, and have what was not accepted here sent again, or fetch it, through the same checks as any call. For "+names()+"; needs apiUrl and apiSecret of the webhook.",
		func(ctx context.Context, p params) (sluice.Missed, error) {
			hook, err := f.Webhook(p.EventKey)
			if err != nil {
				return sluice.Missed{}, err
			}
			to := cmp.Or(p.To, time.Now())
			from := cmp.Or(p.From, to.Add(-defaultSpan))
			if !from.Before(to) {
				return sluice.Missed{}, sluice.InvalidParameter("from", "The parameter from must be before to.")
			}
			return f.Find(ctx, hook, from, to, p.DryRun)
		}, command.Missing(missing))}
}

func names() string { return strings.Join(sluice.MissedProviders, ", ") }

// Find asks the sender of a webhook what it has sent between two times, and gets what is
// missing, unless only to find out.
func (f *Finder) Find(ctx context.Context, hook sluice.Webhook, from, to time.Time, dryRun bool) (sluice.Missed, error) {
	of, a, err := f.api(ctx, hook)
	if err != nil {
		return sluice.Missed{}, err
	}
	sent, err := list(ctx, of, a, from, to)
	if err != nil {
		return sluice.Missed{}, err
	}
	had, err := f.accepted(ctx, hook.EventKey, from.Add(-lookBack))
	if err != nil {
		return sluice.Missed{}, err
	}
	result := sluice.Missed{Asked: len(sent), Items: []sluice.MissedItem{}}
	for _, d := range sent {
		state := sluice.MissedHad
		if had[d.id] {
			result.Had++
		} else {
			result.Missed++
			if state, err = f.fill(ctx, of, a, hook, d, dryRun); err != nil {
				return sluice.Missed{}, err
			}
		}
		result.Items = append(result.Items, sluice.MissedItem{ID: d.id, Time: d.time, State: state})
	}
	return result, nil
}

// api returns how the sender of a webhook is asked.
func (f *Finder) api(ctx context.Context, hook sluice.Webhook) (of provider, a *api, err error) {
	name := ""
	if hook.Trust != nil {
		name = hook.Trust.Provider
	}
	of, known := providers[name]
	switch {
	case !known:
		return of, nil, sluice.InvalidParameter("eventKey", "The sender of this webhook can't be asked what it has sent; these can: %s.", names())
	case hook.APIURL == "":
		return of, nil, sluice.InvalidParameter("apiUrl", "The webhook has no apiUrl, the address of the hook at the sender's API; webhook.put sets it.")
	case hook.APISecret == "":
		return of, nil, sluice.InvalidParameter("apiSecret", "The webhook has no apiSecret, with which the sender's API is asked; webhook.put sets it.")
	}
	secret := hook.APISecret
	if stored, ok := strings.CutPrefix(secret, sluice.StoredSecret); ok {
		if secret, err = f.Secret(sluice.Unscoped(ctx), stored); err != nil {
			return of, nil, sluice.AsError(err).About("apiSecret").WithStatus(http.StatusBadRequest)
		}
	}
	address, err := url.Parse(hook.APIURL)
	if err != nil {
		return of, nil, err
	}
	transport := f.Public
	if address.Scheme == "http" {
		transport = f.Plain
	}
	preset, _ := sender.Find(name)
	a = &api{
		hook: strings.TrimSuffix(hook.APIURL, "/"), title: preset.Title, secret: secret, bearer: secret,
		client: outward.Client(transport, 0),
	}
	base, rest, found := strings.Cut(a.hook, of.path)
	if !found || rest == "" {
		return of, nil, sluice.InvalidParameter("apiUrl", "apiUrl is not the address of a webhook at %s: it has no %q in it.", a.title, of.path)
	}
	a.base = base
	a.id, _, _ = strings.Cut(rest, "/")
	return of, a, nil
}

// list returns what a sender has sent between two times, each delivery once.
func list(ctx context.Context, of provider, a *api, from, to time.Time) (sent []delivery, err error) {
	seen := make(map[string]int)
	tooMany := false
	err = of.list(ctx, a, from, to, func(d delivery) bool {
		if d.id == "" || !d.time.IsZero() && (d.time.Before(from.Truncate(time.Second)) || !d.time.Before(to)) {
			return true
		}
		at, known := seen[d.id]
		switch {
		case !known && len(sent) == maxDeliveries:
			tooMany = true
			return false
		case !known:
			seen[d.id] = len(sent)
			sent = append(sent, d)
		case sent[at].busy && !d.busy:
			sent[at] = d
		}
		return true
	})
	switch {
	case errors.Is(err, errGone):
		return nil, a.refused("it has no such webhook", nil)
	case tooMany:
		return nil, sluice.InvalidParameter("from", "%s lists more than 10,000 deliveries in this time; ask for a shorter one.", a.title)
	}
	return sent, err
}

// accepted returns the delivery ids of the calls of a webhook that were accepted since a time.
func (f *Finder) accepted(ctx context.Context, eventKey string, since time.Time) (map[string]bool, error) {
	had := make(map[string]bool)
	query := sluice.TraceQuery{EventKey: eventKey, From: since, Limit: 1000}
	for {
		calls, next, err := f.Journal.Calls(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			if c.CorrelationID != "" {
				had[c.DeliveryID] = true
			}
		}
		if query.Before = next; next == "" {
			return had, nil
		}
	}
}

// fill gets a delivery that is missing, and returns what became of it.
func (f *Finder) fill(ctx context.Context, of provider, a *api, hook sluice.Webhook, d delivery, dryRun bool) (state string, err error) {
	if dryRun || d.busy {
		return sluice.MissedStill, nil
	}
	if of.again == nil {
		return f.fetch(ctx, of, a, hook, d)
	}
	switch err := of.again(ctx, a, d); {
	case errors.Is(err, errGone):
		return sluice.MissedGone, nil
	case err != nil:
		return "", err
	}
	return sluice.MissedRedelivered, nil
}

// fetch takes the event of a delivery from the sender's API.
func (f *Finder) fetch(ctx context.Context, of provider, a *api, hook sluice.Webhook, d delivery) (state string, err error) {
	event, err := of.fetch(ctx, a, d)
	switch {
	case errors.Is(err, errGone):
		return sluice.MissedGone, nil
	case err != nil:
		return "", err
	}
	if _, err = f.Take(ctx, hook, event); err == nil {
		return sluice.MissedFetched, nil
	}
	if kind := sluice.AsError(err).Kind; kind == sluice.Unavailable || kind == sluice.Internal {
		return "", err // ours: another time it may be taken
	}
	f.Log.WarnContext(ctx, "A fetched event is not what its webhook demands.", "eventKey", hook.EventKey, "deliveryId", d.id, "error", err)
	return sluice.MissedStill, nil
}

const (
	lookEvery = 20 * time.Second // whether a sender is to be asked
	overlap   = 10 * time.Minute // of two times that are asked about
	settled   = time.Minute      // after which a delivery should have come
)

// Run asks senders by itself, as their webhooks say, until ctx ends. Of several nodes one does
// it.
func (f *Finder) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
			f.Step(ctx, time.Now().UTC())
		}
	}
}

// Step asks about the webhooks whose time has come.
func (f *Finder) Step(ctx context.Context, now time.Time) {
	hooks := f.Webhooks()
	for _, run := range f.Runs.All() {
		if !slices.ContainsFunc(hooks, func(h *sluice.Webhook) bool { return h.UUID == run.UUID }) {
			_ = sluice.Remove(ctx, f.Runs, run.UUID) // the next step tries again
		}
	}
	for _, hook := range hooks {
		if from, due := f.begin(ctx, hook, now); due {
			f.ask(ctx, *hook, from, now)
		}
	}
}

// begin notes that a webhook is asked about now, and returns from when on; false if it is not
// time yet, or another node does it.
func (f *Finder) begin(ctx context.Context, hook *sluice.Webhook, now time.Time) (from time.Time, due bool) {
	_, err := f.Runs.Change(ctx, hook.UUID, func(before *sluice.MissedRun, _ map[string]*sluice.MissedRun) (*sluice.MissedRun, error) {
		run := sluice.MissedRun{UUID: hook.UUID, Time: now}
		from = now.Add(-defaultSpan)
		if before != nil {
			if now.Sub(before.Time) < hook.MissedEvery {
				return nil, sluice.ErrUnchanged
			}
			if run.Until = before.Until; !run.Until.IsZero() {
				from = run.Until.Add(-overlap)
			}
		}
		return &run, nil
	})
	return from, err == nil
}

func (f *Finder) ask(ctx context.Context, hook sluice.Webhook, from, now time.Time) {
	until := now.Add(-settled)
	found, err := f.Find(ctx, hook, from, until, false)
	at := now
	switch {
	case err != nil:
		f.Log.WarnContext(ctx, "The sender of a webhook can't be asked what was missed; trying on.", "eventKey", hook.EventKey, "error", err)
		if wait := sluice.AsError(err).RetryAfter; wait > 0 {
			at = now.Add(wait - hook.MissedEvery)
		}
	case found.Missed > 0:
		f.Log.WarnContext(ctx, "Calls of a webhook were missed, and its sender was asked for them.", "eventKey", hook.EventKey, "asked", found.Asked, "missed", found.Missed)
	}
	_, failed := f.Runs.Change(ctx, hook.UUID, func(before *sluice.MissedRun, _ map[string]*sluice.MissedRun) (*sluice.MissedRun, error) {
		run := sluice.MissedRun{UUID: hook.UUID, Time: at, Until: until}
		if err != nil && before != nil {
			run.Until = before.Until
		} else if err != nil {
			run.Until = time.Time{}
		}
		return &run, nil
	})
	if failed != nil && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "It can't be noted how far the sender of a webhook was asked.", "eventKey", hook.EventKey, "error", failed)
	}
}
