package receive

import (
	"bytes"
	"context"
	"strings"

	"sluice"
	"sluice/webhook/trust"
)

// mask replaces secrets.
const mask = "•••"

// Show returns a rejected request without its secrets.
func (rc *Receiver) Show(
	ctx context.Context, c *sluice.QuarantinedCall,
) (headers map[string]string, query map[string][]string, body []byte) {
	headers, body = make(map[string]string, len(c.Request.Header)), c.Request.Body
	token := c.Token
	var masked []string
	if f, err := rc.rebuild(ctx, c); err == nil {
		token, body, query = f.token, f.body, f.sentQuery()
		if f.raw != nil { // a part of it may still be the token
			body = bytes.ReplaceAll(body, []byte(token), []byte(mask))
		}
		if demanded, err := rc.Trust.Of(ctx, &f.hook); err == nil {
			masked = demanded.Masked()
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

// maxDiagnosed bounds the bytes of a body that a diagnosis tries changes of.
const maxDiagnosed = 256 << 10

// Diagnose says, for the operator, why a call was rejected and what would help.
func (rc *Receiver) Diagnose(ctx context.Context, c *sluice.QuarantinedCall) []string {
	switch sluice.Code(c.Code) {
	case sluice.CodeWebhookDisabled:
		return []string{"The webhook was disabled when the call came."}
	case sluice.CodeDuplicateDiffers:
		return []string{"A call with the same delivery id was accepted before, with another body: the sender uses an " +
			"id twice, or dedupe names the wrong place."}
	case sluice.CodeDeliveryIDInvalid:
		return []string{"The delivery id is empty, came twice, is longer than 256 bytes, or has control characters " +
			"in it: dedupe may name the wrong place. With dedupe off, or by force, such a call is let in without " +
			"an id."}
	case sluice.CodePayloadInvalid:
		return trust.Findings(c.Errors)
	case sluice.CodeTooManyItems:
		return []string{"The call brings more events than one call may: without split it is one event."}
	case sluice.CodePayloadTooLarge:
		if c.Size > sluice.MaxPayloadLength {
			return []string{"The body is larger than the 4,194,304 bytes that any call may have, and was not kept: " +
				"let the sender send less, such as where to get the rest."}
		}
		return []string{"The body is larger than maxPayloadLength of the webhook, and was not kept: raise that, to " +
			"4,194,304 at most, and let the sender send it again."}
	}
	f, err := rc.rebuild(ctx, c)
	if err != nil {
		return nil
	}
	demanded, err := rc.Trust.Of(ctx, &f.hook)
	if err != nil {
		return nil
	}
	if _, err := rc.Trust.CheckOrigin(demanded, f.request, f.certificates, f.at); err != nil {
		return []string{trust.CauseOf(err)}
	}
	if !demanded.HasSender() {
		return nil
	}
	if c.Request.Redacted {
		return []string{"Members of the call were never stored, so its signature can't be looked into."}
	}
	if len(c.Request.Body) > maxDiagnosed {
		return []string{"The body is too large to try what would fit."}
	}
	return demanded.Diagnose(ctx, rc.callOf(f), c.Time, rc.Trust.Others(demanded, f.hook.UUID))
}
