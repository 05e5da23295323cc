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
)

// again returns a call that was refused as it came then.
func (rc *Receiver) again(ctx context.Context, c *sluice.QuarantinedCall) (*incoming, error) {
	kept := &c.Request
	request := &http.Request{
		Method: kept.Method, URL: &url.URL{Path: sluice.ReceivePath, RawQuery: kept.RawQuery}, Header: kept.Header,
		Host: kept.Host, RemoteAddr: c.RemoteAddr, ContentLength: int64(len(kept.Body)),
	}
	in := &incoming{request: request.WithContext(ctx), arrived: c.Time, token: c.Token, body: kept.Body, memory: rc.Bodies.Known.Hold()}
	var err error
	if in.query, err = parseQuery(nil, kept.RawQuery); err != nil {
		return nil, err
	}
	if in.hook, err = rc.Webhooks.Webhook(ctx, c.Token); err != nil {
		return nil, err
	}
	if token, _ := requestToken(in.query, request.Header); token != "" { // what was ambiguous was refused before
		in.token = token // as it was written
	} else if token, rest, err := bodyToken(request.Header.Get("Content-Type"), in.body); err == nil && token != "" {
		in.token, in.body, in.raw = token, rest, in.body
	}
	return in, nil
}

// Admit takes a call in that was refused, as a new call: checked again by what
// its webhook demands now, or with force as it is. Times in signatures are
// compared with the time when it came.
func (rc *Receiver) Admit(ctx context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error) {
	in, err := rc.again(ctx, c)
	if err != nil {
		return sluice.Result{}, err
	}
	if err := rc.checkAgain(ctx, in, force); err != nil {
		return sluice.Result{}, err
	}
	in.files, err = parseUpload(in.request.Header.Get("Content-Type"), in.body, upload{all: in.hook.Multipart == sluice.MultipartAll, noToken: in.raw != nil})
	if err != nil {
		return sluice.Result{}, err
	}
	in.arrived = time.Now()
	event := rc.event(in)
	event.Admitted = true
	if force && c.Code == sluice.CodeDuplicateDiffers.Word {
		event.Fingerprint = nil // it is another delivery, whatever its id says
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
	in.listeners = event.Listeners
	rc.log(ctx, event)
	rc.observe(in, sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusBefore(in.listeners), StatusCode: http.StatusOK, Listeners: in.listeners, Spooled: result.Spooled})
	return result, nil
}

func (rc *Receiver) checkAgain(ctx context.Context, in *incoming, force bool) (err error) {
	if force {
		if in.guard, err = rc.Guards.of(ctx, &in.hook); err != nil {
			return err
		}
		if in.guard != nil && in.guard.ids != nil {
			in.id, _ = in.guard.ids.ID(rc.callOf(in)) // without one it is no delivery
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

// mask stands for what is secret.
const mask = "•••"

// Show returns a request that was refused without what is secret in it.
func (rc *Receiver) Show(ctx context.Context, c *sluice.QuarantinedCall) (headers map[string]string, query map[string][]string, body []byte) {
	headers, body = make(map[string]string, len(c.Request.Header)), c.Request.Body
	token := c.Token
	var masked []string
	if in, err := rc.again(ctx, c); err == nil {
		token, body, query = in.token, in.body, in.query.without("token", "uuid")
		if in.raw != nil { // a part of it may still be the token
			body = bytes.ReplaceAll(body, []byte(token), []byte(mask))
		}
		if guard, err := rc.Guards.of(ctx, &in.hook); err == nil {
			masked = guard.masked()
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

// maxOthers bounds the other webhooks whose secrets a diagnosis tries.
const maxOthers = 20

// maxDiagnosed bounds the bodies that a diagnosis tries changes of, in bytes.
const maxDiagnosed = 256 << 10

// Diagnose says, for the operator, why a call was refused and what would help.
func (rc *Receiver) Diagnose(ctx context.Context, c *sluice.QuarantinedCall) []string {
	switch c.Code {
	case sluice.CodeWebhookDisabled.Word:
		return []string{"The webhook was disabled when the call came."}
	case sluice.CodeDuplicateDiffers.Word:
		return []string{"A call with the same delivery id was accepted before, with another body: the sender uses an id twice, or dedupe names the wrong place."}
	case sluice.CodeDeliveryIDInvalid.Word:
		return []string{"The delivery id is empty, came twice, is longer than 256 bytes, or has control characters in it: dedupe may name the wrong place. With dedupe off, or by force, such a call is let in without an id."}
	case sluice.CodePayloadInvalid.Word:
		return diagnosePayload(c)
	}
	in, err := rc.again(ctx, c)
	if err != nil {
		return nil
	}
	guard, err := rc.Guards.of(ctx, &in.hook)
	if err != nil || guard == nil || guard.verifier == nil {
		return nil
	}
	if len(c.Request.Body) > maxDiagnosed {
		return []string{"The body is too large to try what would fit."}
	}
	return guard.verifier.Diagnose(ctx, rc.callOf(in), c.Time, rc.Guards.others(guard, in.hook.UUID))
}

func diagnosePayload(c *sluice.QuarantinedCall) (findings []string) {
	found, _ := c.Errors.([]finding)
	for _, f := range found {
		findings = append(findings, "At "+place(f.Pointer)+": "+f.Message)
	}
	return findings
}

// others returns the signing secrets of other webhooks that check calls in the same
// way: people mix them up.
func (g *Guards) others(like *guard, token string) map[string]string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	secrets := make(map[string]string)
	for other, guard := range g.kept {
		if len(secrets) == maxOthers {
			break
		}
		if other != token && guard.Provider == like.Provider && guard.Signing != "" && !strings.Contains(guard.Signing, ",") {
			secrets["the webhook that ends with "+sluice.Last6(other)] = cmp.Or(guard.resolved, guard.Signing)
		}
	}
	return secrets
}
