package receive

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/webhook/form"
)

// rebuild returns a rejected call as it arrived, with its webhook of today.
func (rc *Receiver) rebuild(ctx context.Context, c *sluice.QuarantinedCall) (*found, error) {
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
	f := &newPlace().found
	f.request, f.at, f.token, f.body = request.WithContext(ctx), c.Time, c.Token, kept.Body
	f.certificates, f.memory = kept.Certificates, rc.Bodies.Known.Hold()
	if f.query, err = form.ParseQuery(nil, kept.RawQuery); err != nil {
		return nil, err
	}
	if f.hook, err = rc.Find.Webhook(ctx, c.Token); err != nil {
		return nil, err
	}
	if token, _ := f.findToken(); token != "" { // an ambiguous one was not kept
		f.token = token // as it was written
		return f, nil
	}
	token, rest, err := form.BodyToken(request.Header.Get("Content-Type"), f.body)
	if err == nil && token != "" {
		f.token, f.body, f.raw = token, rest, f.body
	}
	return f, nil
}

// Admit accepts a rejected call as a new one. It is checked by what its webhook
// demands now, or not at all with force. Times in signatures are compared with the
// time when the call first came.
func (rc *Receiver) Admit(
	ctx context.Context, kept *sluice.QuarantinedCall, force bool,
) (result sluice.Result, err error) {
	if kept.Code == string(sluice.CodePayloadTooLarge) {
		return result, sluice.CodeNotAdmissible.Errorf("The body of this call was too large to be kept; raise " +
			"maxPayloadLength of its webhook, and let the sender send it again.")
	}
	f, err := rc.rebuild(ctx, kept)
	if err != nil {
		return result, err
	}
	if kept.Request.Redacted && !force {
		return result, sluice.CodeCallRedacted.Errorf(
			"Members of this call were never stored, so it can't be checked again; force lets it in all the same.")
	}
	c, err := rc.recheck(ctx, f, force)
	if err != nil {
		return result, err
	}
	if err := f.parseUpload(); err != nil {
		return result, err
	}
	if c.blurred = kept.Request.Redacted; c.blurred && c.looksLikeOthers(c.id) {
		c.id = ""
	}
	c.at = time.Now()
	event, result, err := rc.store(ctx, c, 0, func(e *sluice.Event) {
		e.Admitted, e.User = true, sluice.UserFrom(ctx).Name
		if force && kept.Code == string(sluice.CodeDuplicateDiffers) {
			e.Fingerprint, e.BodyHash = nil, "" // it is another delivery, whatever its id says
		}
	})
	switch {
	case err != nil:
		return result, err
	case result.Differs:
		return result, sluice.CodeDuplicateDiffers.Errorf(
			"The id of this delivery was accepted before with another body; force lets it in all the same.")
	case result.Duplicate:
		return result, nil
	}
	rc.report(ctx, c, event, &result, kept.ID)
	return result, nil
}

// recheck checks a call of the quarantine, or only finds its id with force.
func (rc *Receiver) recheck(ctx context.Context, f *found, force bool) (c *checked, err error) {
	if force {
		c = &f.place.checked
		if c.trust, err = rc.Trust.Of(ctx, &f.hook); err != nil {
			return nil, err
		}
		c.id, _ = c.trust.ID(rc.callOf(f)) // without one it is no delivery
		return c, c.split()
	}
	if err := checkLength(&f.hook, len(f.sent())); err != nil {
		return nil, err
	}
	c, greeting, err := rc.check(f, false)
	if greeting != nil {
		return nil, sluice.CodeHandshake.Errorf(
			"The call is a handshake of its sender, which makes no event; let the sender make it again.")
	}
	return c, err
}

// report observes an event that came in another way than by a call: by admitting one, which
// is named, or from the API of its sender.
func (rc *Receiver) report(
	ctx context.Context, c *checked, event *sluice.Event, result *sluice.Result, admittedOf string,
) {
	c.listeners = result.Listeners
	rc.log(ctx, event)
	call := c.accepted(result, http.StatusOK)
	call.User, call.AdmittedOf = event.User, admittedOf
	rc.observe(c.arrived, call)
}

// AcceptFetched makes an event of a body in JSON that the API of a webhook's sender has shown,
// which stands for the signature. All else is checked as with any call.
func (rc *Receiver) AcceptFetched(
	ctx context.Context, hook sluice.Webhook, body []byte,
) (result sluice.Result, err error) {
	request := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: sluice.ReceivePath},
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
	}
	f := &newPlace().found
	f.request, f.at, f.token, f.hook, f.body = request.WithContext(ctx), time.Now(), hook.UUID, hook, body
	f.memory = rc.Bodies.Known.Hold()
	defer f.memory.Release()
	if err := checkLength(&hook, len(body)); err != nil {
		return result, err
	}
	c, _, err := rc.check(f, true)
	if err != nil {
		return result, err
	}
	event, result, err := rc.store(ctx, c, 0, func(*sluice.Event) {})
	if err == nil && !result.Duplicate {
		rc.report(ctx, c, event, &result, "")
	}
	return result, err
}

// looksLikeOthers reports whether other calls or items without their redacted members have the same id.
func (c *checked) looksLikeOthers(id string) bool {
	return strings.Contains(id, redacted) || c.trust.Where == "content"
}
