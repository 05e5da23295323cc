package receive

import (
	"mime"

	"sluice"
	"sluice/value"
	"sluice/webhook/form"
)

// encode gives an event the payload of its call, in the form that its webhook wants. What has
// to be written for that is in c.payload; large bodies are copied only when they are stored.
func (c *checked) encode(e *sluice.Event) {
	raw := c.hook.PayloadType == sluice.Raw
	switch {
	case c.hook.PayloadType == sluice.Ignore:
		e.PayloadEncoding = sluice.EncodingNone
	case c.files != nil:
		c.payload = c.files.AppendJSON(c.payload, raw)
		e.Payload, e.PayloadEncoding = c.payload, sluice.EncodingFiles
	case raw && isJSONBody(c.request.Header.Get("Content-Type"), c.body):
		e.Payload, e.PayloadEncoding = c.body, sluice.EncodingJSON
	case raw && c.writeText():
		e.Payload, e.PayloadEncoding = c.payload, sluice.EncodingText
	default:
		e.AppendPayload, e.PayloadEncoding = c.appendBinary, sluice.EncodingBase64
	}
}

// isJSONBody reports whether a body is JSON that an event can carry unchanged. Deeper
// JSON is carried as text, since the event around it adds a level.
func isJSONBody(contentType string, body []byte) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return value.IsMediaType(media) && value.Valid(body)
}

// writeText writes the body to c.payload as a JSON string, if it is text that fits.
func (c *checked) writeText() (ok bool) {
	c.payload, ok = form.AppendText(c.payload, c.body)
	return ok
}

// appendBinary appends the body as the payload of an event that may be any bytes.
func (c *checked) appendBinary(b []byte) []byte { return form.AppendBinary(b, c.body) }
