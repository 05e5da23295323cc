package portal

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"sluice"
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
		if !latest[i].Accepted() {
			continue
		}
		tried, err := p.isTried(r, latest[i])
		if err != nil {
			return err
		}
		if tried {
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
		if older == nil {
			continue
		}
		if tried, err := p.isTried(r, *older); err != nil || !tried {
			c.Arrived = older
			return err
		}
	}
	return nil
}

// isTried reports whether a call was sent from a page. It is false for users who may not
// see headers.
func (p *Portal) isTried(r *http.Request, c tracedCall) (bool, error) {
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", c.TraceID))
	if err != nil || len(found.Items) == 0 {
		return false, err
	}
	return found.Items[0].Headers["user-agent"] == tryAgent, nil
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
