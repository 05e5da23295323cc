package receive

import (
	"net/http"
	"strings"

	"sluice"
	"sluice/sender"
)

// event makes the event of a checked call.
func (rc *Receiver) event(c *checked) *sluice.Event {
	now, id := c.at.UTC(), c.id
	if c.redact() && id != "" {
		c.id, _ = c.trust.ID(rc.callOf(c.found)) // it may be redacted, or made of what is
	}
	r := c.request
	c.headers = appendHeaders(c.headers, r, c.token, rc.Redact, c.trust.Masked())
	e := &sluice.Event{
		EventKey:    c.hook.EventKey,
		Namespace:   rc.Namespace,
		TraceID:     sluice.NewTraceID(c.hook.UUID, now),
		ReceivedAt:  now,
		PayloadType: c.hook.PayloadType,
		ContentType: r.Header.Get("Content-Type"),
		Method:      r.Method,
		Path:        c.path,
		Query:       c.sentQuery(),
		Headers:     c.headers,
		RemoteAddr:  r.RemoteAddr,
		Traceparent: rc.Spans.Traceparent(r.Context()),
		CE:          cloudEvent(r.Header, c.body),
		DeliveryID:  c.id,
	}
	if id != "" {
		e.SetFingerprint(c.hook.IDKey, c.hook.UUID, id, c.sent(), c.trust.Window())
	}
	if c.batch {
		return e
	}
	e.Type = sender.EventType(c.trust.EventTypeOf(&c.hook), e, c.body)
	c.kind = e.Type
	c.encode(e)
	return e
}

// cloudEvent returns the attributes of a call that is a CloudEvent, nil for others.
// Most calls are ruled out by their headers.
func cloudEvent(header http.Header, body []byte) *sluice.CloudEvent {
	const structured = "application/cloudevents"
	media := header["Content-Type"]
	if len(header["Ce-Id"]) == 0 &&
		(len(media) == 0 || len(media[0]) < len(structured) ||
			!strings.EqualFold(media[0][:len(structured)], structured)) {
		return nil
	}
	call := sender.Call{Header: header, Body: body}
	if e, ok := call.CloudEvent(); ok {
		return &e
	}
	return nil
}
