package portal

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

// A setupStep is a step that connects a sender, with the values it needs.
type setupStep struct {
	Text   string
	URL    bool // it needs the webhook's URL
	Secret bool // it needs the signing secret
	Verify bool // it needs the verify token
}

// stepsOf returns the steps that connect a sender. Their texts refer to the field or
// the value beside them.
func stepsOf(setup []string, field, made, verify bool) (steps []setupStep) {
	const here, there, verifying = "as the `signingSecret`", ", the same as the `signingSecret`", ", the same as the `verifyToken`"
	placed := false
	for _, line := range setup {
		step := setupStep{Text: line, URL: strings.Contains(line, "the webhook's URL"), Verify: verify && strings.Contains(line, verifying)}
		step.Secret = !placed && strings.Contains(line, here)
		placed = placed || step.Secret
		if made {
			step.Text = strings.Replace(step.Text, there, ": this one", 1)
		}
		if field {
			step.Text = strings.Replace(step.Text, here, "here", 1)
		}
		if step.Verify {
			step.Text = strings.Replace(step.Text, verifying, ": this one", 1)
		}
		steps = append(steps, step)
	}
	return steps
}

// A connection says how to set up a webhook's sender, and whether it has called.
type connection struct {
	sluice.ProviderView

	Steps []setupStep
	Asks  bool // a step has a field for the signing secret
	Local bool // only this machine can reach the URL

	Greeted  *tracedCall // the handshake
	Arrived  *tracedCall // the sender's newest call
	First    bool        // the sender has called once
	Rejected int         // number of rejected calls
	Why      string      // why the last of them was rejected
}

// connect returns the connection of a webhook, or nil if its sender is not known. made says
// that the page shows a new secret.
func (p *Portal) connect(r *http.Request, hook sluice.WebhookView, made bool, latest []tracedCall) (*connection, error) {
	user := sluice.UserFrom(r.Context())
	if hook.Provider == "" || !p.may(user, "provider.get") {
		return nil, nil
	}
	preset, err := ask[sluice.ProviderView](p, r, "provider.get", args("provider", hook.Provider))
	if err != nil {
		return nil, err
	}
	c := &connection{ProviderView: preset, Local: isLocal(hook.WebhookURL)}
	if err := p.addArrived(r, c, hook.EventKey, latest); err != nil {
		return nil, err
	}
	c.Asks = c.Arrived == nil && c.TakesSecret() && p.may(user, "webhook.put") && user.May(sluice.MaySeeTokens)
	c.Steps = stepsOf(preset.Setup[:], c.Asks && !c.Chosen(), made, c.Arrived == nil && hook.VerifyToken != "")
	if p.may(user, "quarantine.get") {
		rejected, err := p.rejectedCalls(r, args("eventKey", hook.EventKey, "limit", "1000"))
		if err != nil {
			return nil, err
		}
		if c.Rejected = len(rejected.Items); c.Rejected > 0 {
			c.Why = strings.Join(rejected.Items[0].Diagnosis, " ")
		}
	}
	return c, nil
}

// addArrived finds the handshake and the newest call of a sender.
func (p *Portal) addArrived(r *http.Request, c *connection, eventKey string, latest []tracedCall) (err error) {
	if !p.allows(r, "trace.get") {
		return nil
	}
	if c.Handshake != "" {
		if c.Greeted, err = p.lastCall(r, eventKey, sluice.StatusHandshake); err != nil {
			return err
		}
	}
	for i := range latest {
		sent, err := p.isSent(r, &latest[i])
		if err != nil {
			return err
		}
		if !sent {
			continue
		}
		if c.First = c.Arrived == nil; !c.First { // there is an older one
			return nil
		}
		c.Arrived = &latest[i]
	}
	for _, status := range []sluice.Status{sluice.StatusOK, sluice.StatusError, sluice.StatusProcessing} {
		if c.Arrived != nil || len(latest) == 0 {
			return nil
		}
		older, err := p.lastCall(r, eventKey, status) // the latest calls were all rejected
		if err != nil {
			return err
		}
		if sent, err := p.isSent(r, older); err != nil || sent {
			c.Arrived = older
			return err
		}
	}
	return nil
}

// isSent reports whether an accepted call is its sender's. It is not if it was let out of the
// quarantine, or sent from a page, which users who may not see headers are not told.
func (p *Portal) isSent(r *http.Request, c *tracedCall) (bool, error) {
	if c == nil || !c.Accepted() || c.AdmittedOf != "" {
		return false, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", c.TraceID))
	return len(found.Items) == 0 || found.Items[0].Headers["user-agent"] != tryAgent, err
}

// lastCall returns the newest call of a webhook with a status, or nil.
func (p *Portal) lastCall(r *http.Request, eventKey string, status sluice.Status) (*tracedCall, error) {
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", eventKey, "status", string(status), "limit", "1"))
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// isLocal reports whether only this machine can reach an address.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (sluice.IsLoopback(u.Hostname()) || net.ParseIP(u.Hostname()).IsUnspecified())
}

// A missedView is the page on which the sender of a webhook is asked what was missed.
type missedView struct {
	sluice.WebhookView

	Title   string // of the sender
	Since   string
	Spans   []missedSpan
	Found   *sluice.Missed // nil: it was not asked yet
	DryRun  bool
	Problem string
}

// A missedSpan is a time to ask about.
type missedSpan struct {
	Name, Title string
	Length      time.Duration
}

var missedSpans = []missedSpan{
	{"1h", "the last hour", time.Hour}, {"24h", "the last 24 hours", 24 * time.Hour}, {"72h", "the last 3 days", 72 * time.Hour}, {"168h", "the last 7 days", 168 * time.Hour},
}

// Left returns the deliveries that were not accepted before.
func (v missedView) Left() []sluice.MissedItem {
	return slices.DeleteFunc(slices.Clone(v.Found.Items), func(i sluice.MissedItem) bool { return i.State == sluice.MissedHad })
}

// Asks reports whether senders of a kind can be asked what was missed.
func (v webhookView) Asks() bool { return slices.Contains(sluice.MissedProviders, v.Provider) }

func (p *Portal) missedPage(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.renderMissed(w, r, http.StatusOK, missedView{WebhookView: hook})
}

func (p *Portal) renderMissed(w http.ResponseWriter, r *http.Request, status int, view missedView) error {
	view.Title, view.Spans = view.Provider, missedSpans
	known, err := p.providers(r)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(known, func(v sluice.ProviderView) bool { return v.Provider == view.Provider }); at >= 0 {
		view.Title = known[at].Title
	}
	view.Since = cmp.Or(view.Since, missedSpans[1].Name)
	return p.render(w, r, status, "webhook_missed", "Missed calls of "+view.EventKey, view)
}

// missedAsk asks the sender, and has it deliver again what is missing unless that was only to
// be looked for.
func (p *Portal) missedAsk(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	view := missedView{WebhookView: hook, Since: r.PostForm.Get("since"), DryRun: r.PostForm.Get("do") != "yes"}
	length := 24 * time.Hour
	if at := slices.IndexFunc(missedSpans, func(s missedSpan) bool { return s.Name == view.Since }); at >= 0 {
		length = missedSpans[at].Length
	}
	given := args("eventKey", hook.EventKey, "from", time.Now().Add(-length).UTC().Format(time.RFC3339))
	if view.DryRun {
		given = append(given, args("dryRun", "true")...)
	}
	found, err := ask[sluice.Missed](p, r, "webhook.missed", given)
	if err != nil {
		e := sluice.AsError(err)
		if e.Kind == sluice.Forbidden || e.Kind == sluice.Unauthenticated {
			return err
		}
		view.Problem = e.Message
		return p.renderMissed(w, r, problem.Status(err), view)
	}
	view.Found = &found
	return p.renderMissed(w, r, http.StatusOK, view)
}

// providers returns the known senders, none if the user may not list them.
func (p *Portal) providers(r *http.Request) ([]sluice.ProviderView, error) {
	senders, err := askIfAllowed[command.Page[sluice.ProviderView]](p, r, "provider.get", nil)
	return senders.Items, err
}
