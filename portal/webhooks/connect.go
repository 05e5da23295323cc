package webhooks

import (
	"net"
	"net/url"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
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
	const (
		here      = "as the `signingSecret`"
		there     = ", the same as the `signingSecret`"
		verifying = ", the same as the `verifyToken`"
	)
	placed := false
	for _, line := range setup {
		step := setupStep{
			Text: line, URL: strings.Contains(line, "the webhook's URL"), Verify: verify &&
				strings.Contains(line, verifying),
		}
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

	Greeted  *sluice.CallView // the handshake
	Arrived  *sluice.CallView // the sender's newest call
	First    bool             // the sender has called once
	Rejected int              // number of rejected calls
	Why      string           // why the last of them was rejected
}

// connectionOf returns the connection of a webhook, or nil if its sender is not known. made says
// that the page shows a new secret.
func connectionOf(v *page.Visit, hook sluice.WebhookView, made bool, latest []sluice.CallView) *connection {
	if hook.Provider == "" || !v.May("provider.get") {
		return nil
	}
	preset := page.Ask[sluice.ProviderView](v, "provider.get", "provider", hook.Provider)
	c := &connection{ProviderView: preset, Local: isLocal(hook.WebhookURL)}
	addArrived(v, c, hook.EventKey, latest)
	c.Asks = c.Arrived == nil && c.TakesSecret() && v.May("webhook.put") && v.User.May(sluice.MaySeeTokens)
	c.Steps = stepsOf(preset.Setup[:], c.Asks && !c.Chosen(), made, c.Arrived == nil && hook.VerifyToken != "")
	if v.May("quarantine.get") {
		rejected := calls.RejectedCalls(v, "eventKey", hook.EventKey, "limit", "1000")
		if c.Rejected = len(rejected.Items); c.Rejected > 0 {
			c.Why = strings.Join(rejected.Items[0].Diagnosis, " ")
		}
	}
	return c
}

// isLocal reports whether only this machine can reach an address.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (sluice.IsLoopback(u.Hostname()) || net.ParseIP(u.Hostname()).IsUnspecified())
}
