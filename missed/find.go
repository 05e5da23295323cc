package missed

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/outward"
	"sluice/sender"
)

// askTime bounds how long one sender is asked, and asked for what is missing.
const askTime = 5 * time.Minute

// Find asks the sender of a webhook what it has sent between two times, and gets what is
// missing, unless only to find out. It takes no longer than within.
func (f *Finder) Find(
	ctx context.Context, within time.Duration, hook sluice.Webhook, from, to time.Time, dryRun bool,
) (found sluice.Missed, _ error) {
	if !Asks(sender.Of(&hook).Name) {
		return found, sluice.InvalidParameter("eventKey",
			"The sender of this webhook can't be asked what it has sent; these can: %s.", Senders())
	}
	a, err := f.api(ctx, hook)
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSlow)
	defer cancel()
	found, err = f.find(ctx, a, from, to, dryRun)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = a.refused("it takes longer than "+within.String(), errSlow).After(slowPause)
	}
	return found, err
}

// errSlow ends what is asked of a sender that takes its time.
var errSlow = errors.New("the sender takes too long")

// slowPause is how long such a sender is not asked.
const slowPause = time.Hour

func (f *Finder) find(
	ctx context.Context, a *api, from, to time.Time, dryRun bool,
) (found sluice.Missed, _ error) {
	sent, err := a.sent(ctx, from, to)
	if err != nil {
		return found, err
	}
	had, err := f.accepted(ctx, a.webhook.EventKey, from.Add(-lookBack))
	if err != nil {
		return found, err
	}
	result := sluice.Missed{Asked: len(sent), Items: []sluice.MissedItem{}}
	for _, d := range sent {
		state := sluice.MissedHad
		if had[d.id] {
			result.Had++
		} else {
			result.Missed++
			if state, err = f.fill(ctx, a, d, dryRun); err != nil {
				return found, err
			}
		}
		result.Items = append(result.Items, sluice.MissedItem{ID: d.id, Time: d.time, State: state})
	}
	return result, nil
}

// api returns how the sender of a webhook is asked.
func (f *Finder) api(ctx context.Context, hook sluice.Webhook) (a *api, err error) {
	preset := sender.Of(&hook)
	of, known := providers()[preset.Name]
	switch {
	case !known:
		return nil, sluice.InvalidParameter("eventKey",
			"The sender of this webhook can't be asked about it; these can: %s.", Checkers())
	case hook.APIURL == "":
		return nil, sluice.InvalidParameter("apiUrl",
			"The webhook has no apiUrl, the address of the hook at the sender's API; webhook.put sets it.")
	case hook.APISecret == "":
		return nil, sluice.InvalidParameter("apiSecret",
			"The webhook has no apiSecret, with which the sender's API is asked; webhook.put sets it.")
	}
	secret := hook.APISecret
	if stored, ok := strings.CutPrefix(secret, sluice.StoredSecret); ok {
		if secret, err = f.Secret(sluice.Unscoped(ctx), stored); err != nil {
			return nil, sluice.AsError(err).About("apiSecret").WithStatus(http.StatusBadRequest)
		}
	}
	address, err := url.Parse(hook.APIURL)
	if err != nil {
		return nil, err
	}
	transport := f.Public
	if address.Scheme == "http" {
		transport = f.Plain
	}
	a = &api{
		provider: of, webhook: hook, hook: strings.TrimSuffix(hook.APIURL, "/"), sender: preset.Name,
		title: preset.Title, secret: secret, bearer: secret, client: outward.Client(transport, 0),
	}
	if !a.locate() {
		return nil, sluice.InvalidParameter("apiUrl",
			"apiUrl is not the address of a webhook at %s: it has no %s in it.", a.title,
			strings.Join(a.Paths, " or "))
	}
	return a, nil
}

// locate finds one of the provider's paths in the address of a webhook.
func (a *api) locate() bool {
	for _, path := range a.Paths {
		if base, rest, found := strings.Cut(a.hook, path); found && rest != "" {
			a.base, a.path = base, path
			a.id, _, _ = strings.Cut(rest, "/")
			return true
		}
	}
	return a.Paths == nil
}

// sent returns what a sender has sent between two times, each delivery once.
func (a *api) sent(ctx context.Context, from, to time.Time) (sent []delivery, err error) {
	seen := make(map[string]int)
	tooMany := false
	if err = a.logIn(ctx); err == nil {
		err = a.list(ctx, from, to, func(d delivery) bool {
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
	}
	switch {
	case errors.Is(err, errGone):
		return nil, a.refused("it has no such webhook", nil)
	case tooMany:
		return nil, sluice.InvalidParameter("from",
			"%s lists more than 10,000 deliveries in this time; ask for a shorter one.", a.title)
	}
	return sent, err
}

// list shows what a sender has sent to see.
func (a *api) list(ctx context.Context, from, to time.Time, see func(delivery) bool) error {
	l, types := a.List, []string(nil)
	if l.Type != "" {
		hook, _, err := a.ask(ctx, http.MethodGet, a.hook, nil)
		if err != nil {
			return err
		}
		if types = typesOf(hook, a.shape().Types); text(hook, "event_payload") == "thin" {
			l = a.Thin
		}
	}
	return l.list(ctx, a, types, from, to, see)
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
func (f *Finder) fill(ctx context.Context, a *api, d delivery, dryRun bool) (state string, err error) {
	if dryRun || d.busy {
		return sluice.MissedStill, nil
	}
	if a.Resend == "" {
		return f.fetch(ctx, a, d)
	}
	var order any
	if a.Names != "" {
		order = map[string][]string{a.Names: {a.id}}
	}
	switch _, _, err := a.call(ctx, http.MethodPost, a.fill(a.Resend, d.ref, d.time, d.time), order); {
	case errors.Is(err, errGone):
		return sluice.MissedGone, nil
	case err != nil:
		return "", err
	}
	return sluice.MissedRedelivered, nil
}

// fetch takes the event of a delivery from the sender's API.
func (f *Finder) fetch(ctx context.Context, a *api, d delivery) (state string, err error) {
	if d.event == nil {
		d.event, _, err = a.call(ctx, http.MethodGet, d.at, nil)
	}
	switch {
	case errors.Is(err, errGone):
		return sluice.MissedGone, nil
	case err != nil:
		return "", err
	}
	if _, err = f.Accept(ctx, a.webhook, d.event); err == nil {
		return sluice.MissedFetched, nil
	}
	if kind := sluice.AsError(err).Kind; kind == sluice.Unavailable || kind == sluice.Internal {
		return "", err // ours: another time it may be taken
	}
	f.Log.WarnContext(ctx, "A fetched event is not what its webhook demands.", "eventKey", a.webhook.EventKey,
		"deliveryId", d.id, "error", err)
	return sluice.MissedStill, nil
}
