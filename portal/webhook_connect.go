package portal

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

// providers returns the known senders, none if the user may not list them.
func (p *Portal) providers(r *http.Request) ([]sluice.ProviderView, error) {
	if !p.allows(r, "provider.get") {
		return nil, nil
	}
	senders, _, err := fetch[sluice.ProviderView](p, r, "provider.get", nil)
	return senders, err
}

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

// connect returns the connection of a webhook, or nil if its sender is not known.
func (p *Portal) connect(r *http.Request, hook *webhookView) (*connection, error) {
	user := sluice.UserFrom(r.Context())
	if hook.Provider == "" || !p.may(user, "provider.get") {
		return nil, nil
	}
	preset, err := ask[sluice.ProviderView](p, r, "provider.get", args("provider", hook.Provider))
	if err != nil {
		return nil, err
	}
	c := &connection{ProviderView: preset, Local: isLocal(hook.WebhookURL)}
	if err := p.addArrived(r, c, hook.EventKey, hook.Latest); err != nil {
		return nil, err
	}
	c.Asks = c.Arrived == nil && c.TakesSecret() && p.may(user, "webhook.put") && user.May(sluice.MaySeeTokens)
	c.Steps = stepsOf(preset.Setup[:], c.Asks && !c.Chosen(), hook.Made != "", c.Arrived == nil && hook.VerifyToken != "")
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

// tryAgent is the User-Agent of calls that are sent from a page.
const tryAgent = "sluice portal"

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
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// newSecret returns a random secret in hex, which is valid base64 too.
func newSecret() string {
	secret := make([]byte, 20)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

// fillSecrets makes up secrets that were left empty in the form of a webhook. Some
// senders show theirs only once they have the URL: until it is entered here, all calls
// are rejected. It returns a secret that people must enter at the sender.
func (p *Portal) fillSecrets(r *http.Request, before sluice.WebhookView) (made string, err error) {
	entered := r.PostForm
	entered.Set("signingSecret", strings.TrimSpace(entered.Get("signingSecret")))
	name := entered.Get("provider")
	if name == "" || !p.allows(r, "provider.get") {
		return "", nil
	}
	preset, err := ask[sluice.ProviderView](p, r, "provider.get", args("provider", name))
	if err != nil {
		return "", err
	}
	if preset.VerifyToken && entered.Get("verifyToken") == "" && before.UUID == "" {
		entered.Set("verifyToken", newSecret())
	}
	if !preset.SecretRequired || preset.Fixed() || before.IsSigned() || entered.Get("signingSecret") != "" {
		return "", nil
	}
	secret := newSecret()
	entered.Set("signingSecret", secret)
	if !preset.Chosen() {
		return "", nil
	}
	return secret, nil
}

// webhookSecret stores the signing secret that was entered, or a new one, which it
// shows once.
func (p *Portal) webhookSecret(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	view := webhookView{WebhookView: hook}
	secret := strings.TrimSpace(r.PostForm.Get("signingSecret"))
	if r.PostForm.Get("do") == "make" {
		secret = newSecret()
		view.Made = secret
	}
	if secret == "" {
		view.Wrong = "Enter the signing secret."
		return p.renderWebhook(w, r, http.StatusBadRequest, view)
	}
	_, err = ask[sluice.WebhookView](p, r, "webhook.put", append(args("uuid", hook.UUID), argument("signingSecret", command.Text(secret))))
	switch {
	case err != nil && isMistake(err):
		view.Made, view.Wrong = "", sluice.AsError(err).Message
		return p.renderWebhook(w, r, problem.Status(err), view)
	case err != nil:
		return err
	case view.Made != "":
		return p.renderWebhook(w, r, http.StatusOK, view)
	}
	p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey)+"?done=secret")
	return nil
}
