package webhook

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/webhook/form"
)

// again rebuilds a rejected call as it arrived.
func (rc *Receiver) again(ctx context.Context, c *sluice.QuarantinedCall) (*incoming, error) {
	kept := &c.Request
	address, err := url.ParseRequestURI(cmp.Or(kept.Path, sluice.ReceivePath))
	if err != nil {
		return nil, err
	}
	address.RawQuery = kept.RawQuery
	request := &http.Request{
		Method: kept.Method, URL: address, Header: kept.Header,
		Host: kept.Host, RemoteAddr: c.RemoteAddr, ContentLength: int64(len(kept.Body)),
	}
	in := &incoming{request: request.WithContext(ctx), arrived: c.Time, token: c.Token, body: kept.Body, shown: kept.Certificates, memory: rc.Bodies.Known.Hold()}
	if in.query, err = form.ParseQuery(nil, kept.RawQuery); err != nil {
		return nil, err
	}
	if in.hook, err = rc.Webhooks.Webhook(ctx, c.Token); err != nil {
		return nil, err
	}
	if token, _ := in.findToken(); token != "" { // an ambiguous one was not kept
		in.token = token // as it was written
	} else if token, rest, err := form.BodyToken(request.Header.Get("Content-Type"), in.body); err == nil && token != "" {
		in.token, in.body, in.raw = token, rest, in.body
	}
	return in, nil
}

// Admit takes in a rejected call as a new one. It is checked by what its webhook
// demands now, or not at all with force. Times in signatures are compared with the
// time when the call first came.
func (rc *Receiver) Admit(ctx context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error) {
	in, err := rc.again(ctx, c)
	if err != nil {
		return sluice.Result{}, err
	}
	if c.Request.Redacted && !force {
		return sluice.Result{}, sluice.Errorf(sluice.CodeCallRedacted, "Members of this call were never stored, so it can't be checked again; force lets it in all the same.")
	}
	if err := rc.checkAgain(ctx, in, force); err != nil {
		return sluice.Result{}, err
	}
	if err := in.parseUpload(); err != nil {
		return sluice.Result{}, err
	}
	if c.Request.Redacted && (strings.Contains(in.id, redacted) || in.trust != nil && in.trust.where == "content") {
		in.id = "" // other calls look the same
	}
	in.arrived = time.Now()
	event := rc.event(in)
	event.Admitted, event.User = true, sluice.UserFrom(ctx).Name
	if force && c.Code == sluice.CodeDuplicateDiffers.Word {
		event.Fingerprint, event.BodyHash = nil, "" // it is another delivery, whatever its id says
	}
	result, err := rc.Events.Accept(ctx, event, 0)
	switch {
	case err != nil:
		return result, err
	case result.Differs:
		return result, sluice.Errorf(sluice.CodeDuplicateDiffers, "The id of this delivery was accepted before with another body; force lets it in all the same.")
	case result.Duplicate:
		return result, nil
	}
	rc.took(ctx, in, event, &result, c.ID)
	return result, nil
}

// took reports an event that came in another way than by a call: by admitting one, which is
// named, or from the API of its sender.
func (rc *Receiver) took(ctx context.Context, in *incoming, event *sluice.Event, result *sluice.Result, admittedOf string) {
	in.listeners = result.Listeners
	rc.log(ctx, event)
	rc.observe(in, sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusBefore(in.listeners), StatusCode: http.StatusOK, Listeners: in.listeners, Spooled: result.Spooled, User: event.User, AdmittedOf: admittedOf})
}

// Take makes an event of a body in JSON that the API of a webhook's sender has shown, which
// stands for the signature. All else is checked as with any call.
func (rc *Receiver) Take(ctx context.Context, hook sluice.Webhook, body []byte) (sluice.Result, error) {
	request := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: sluice.ReceivePath}, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body))}
	in := &incoming{request: request.WithContext(ctx), arrived: time.Now(), hook: hook, token: hook.UUID, body: body, vouched: true, memory: rc.Bodies.Known.Hold()}
	defer in.memory.Release()
	if len(body) > hook.MaxPayloadLength {
		return sluice.Result{}, limit.TooLarge(hook.MaxPayloadLength)
	}
	if _, err := rc.check(in); err != nil {
		return sluice.Result{}, err
	}
	event := rc.event(in)
	result, err := rc.Events.Accept(ctx, event, 0)
	if err == nil && !result.Duplicate {
		rc.took(ctx, in, event, &result, "")
	}
	return result, err
}

func (rc *Receiver) checkAgain(ctx context.Context, in *incoming, force bool) (err error) {
	if force {
		if in.trust, err = rc.Trusts.of(ctx, &in.hook); err != nil {
			return err
		}
		if in.trust != nil && in.trust.ids != nil {
			in.id, _ = in.trust.ids.ID(rc.callOf(in)) // without one it is no delivery
		}
		return nil
	}
	if len(in.sent()) > in.hook.MaxPayloadLength {
		return limit.TooLarge(in.hook.MaxPayloadLength)
	}
	answer, err := rc.check(in)
	if err == nil && answer != nil {
		return sluice.Errorf(sluice.CodeHandshake, "The call is a handshake of its sender, which makes no event; let the sender make it again.")
	}
	return err
}

// mask replaces secrets.
const mask = "•••"

// Show returns a rejected request without its secrets.
func (rc *Receiver) Show(ctx context.Context, c *sluice.QuarantinedCall) (headers map[string]string, query map[string][]string, body []byte) {
	headers, body = make(map[string]string, len(c.Request.Header)), c.Request.Body
	token := c.Token
	var masked []string
	if in, err := rc.again(ctx, c); err == nil {
		token, body, query = in.token, in.body, in.sentQuery()
		if in.raw != nil { // a part of it may still be the token
			body = bytes.ReplaceAll(body, []byte(token), []byte(mask))
		}
		if trust, err := rc.Trusts.of(ctx, &in.hook); err == nil {
			masked = trust.masked()
		}
	}
	for name, values := range c.Request.Header {
		name = strings.ToLower(name)
		headers[name] = withoutToken(strings.Join(values, ", "), token)
		if sluice.SecretHeader(name) || containedIn([][]string{rc.Redact, masked}, name) {
			headers[name] = mask
		}
	}
	return headers, query, body
}

const (
	maxOthers    = 20        // other webhooks whose secrets a diagnosis tries
	maxDiagnosed = 256 << 10 // bytes of a body that a diagnosis tries changes of
)

// Diagnose says, for the operator, why a call was rejected and what would help.
func (rc *Receiver) Diagnose(ctx context.Context, c *sluice.QuarantinedCall) []string {
	switch c.Code {
	case sluice.CodeWebhookDisabled.Word:
		return []string{"The webhook was disabled when the call came."}
	case sluice.CodeDuplicateDiffers.Word:
		return []string{"A call with the same delivery id was accepted before, with another body: the sender uses an id twice, or dedupe names the wrong place."}
	case sluice.CodeDeliveryIDInvalid.Word:
		return []string{"The delivery id is empty, came twice, is longer than 256 bytes, or has control characters in it: dedupe may name the wrong place. With dedupe off, or by force, such a call is let in without an id."}
	case sluice.CodePayloadInvalid.Word:
		found, _ := c.Errors.([]finding)
		findings := make([]string, len(found))
		for i, f := range found {
			findings[i] = "At " + cmp.Or(f.Pointer, top) + ": " + f.Message
		}
		return findings
	}
	in, err := rc.again(ctx, c)
	if err != nil {
		return nil
	}
	trust, err := rc.Trusts.of(ctx, &in.hook)
	if err != nil || trust == nil {
		return nil
	}
	if err := trust.origin.check(rc.Trusts.ClientCertificates, in); err != nil {
		return []string{causeOf(err)}
	}
	if trust.verifier == nil {
		return nil
	}
	if c.Request.Redacted {
		return []string{"Members of the call were never stored, so its signature can't be looked into."}
	}
	if len(c.Request.Body) > maxDiagnosed {
		return []string{"The body is too large to try what would fit."}
	}
	return trust.verifier.Diagnose(ctx, rc.callOf(in), c.Time, rc.Trusts.others(trust, in.hook.UUID))
}

// others returns the signing secrets of other webhooks with the same provider: people
// mix them up.
func (g *Trusts) others(like *trust, token string) map[string]string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	secrets := make(map[string]string)
	for other, trust := range g.kept {
		if len(secrets) == maxOthers {
			break
		}
		if other != token && trust.Provider == like.Provider && len(trust.secrets) == 1 {
			secrets[sluice.OtherWebhook+sluice.Last6(other)] = trust.secrets[0]
		}
	}
	return secrets
}
