package webhook

import (
	"cmp"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/value"
	"sluice/webhook/form"
)

// encode gives an event the payload of its call, in the form that its webhook wants. What has
// to be written for that is in in.payload; large bodies are copied only when they are stored.
func (in *incoming) encode(e *sluice.Event) {
	raw := in.hook.PayloadType == sluice.Raw
	switch {
	case in.hook.PayloadType == sluice.Ignore:
		e.PayloadEncoding = sluice.EncodingNone
	case in.files != nil:
		in.payload = in.files.AppendJSON(in.payload, raw)
		e.Payload, e.PayloadEncoding = in.payload, sluice.EncodingFiles
	case raw && isJSONBody(in.request.Header.Get("Content-Type"), in.body):
		e.Payload, e.PayloadEncoding = in.body, sluice.EncodingJSON
	case raw && in.writeText():
		e.Payload, e.PayloadEncoding = in.payload, sluice.EncodingText
	default:
		e.AppendPayload, e.PayloadEncoding = in.appendBinary, sluice.EncodingBase64
	}
}

// isJSONBody reports whether a body is JSON that an event can carry unchanged. Deeper
// JSON is carried as text, since the event around it adds a level.
func isJSONBody(contentType string, body []byte) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return value.IsMediaType(media) && value.Valid(body)
}

// writeText writes the body to in.payload as a JSON string, if it is text that fits.
func (in *incoming) writeText() (ok bool) {
	in.payload, ok = form.AppendText(in.payload, in.body)
	return ok
}

// appendBinary appends the body as the payload of an event that may be any bytes.
func (in *incoming) appendBinary(b []byte) []byte {
	return append(form.AppendBase64(append(b, `{"origin":`...), in.body), '}')
}

// appendHeaders appends the headers of a call as events carry them, without secrets.
func appendHeaders(headers sluice.Headers, r *http.Request, token string, redact ...[]string) sluice.Headers {
	headers = append(headers, sluice.Header{Name: "host", Value: r.Host})
	hooked := strings.HasPrefix(r.URL.Path, sluice.HookPath) // then token and uuid are the sender's own
	for name, values := range r.Header {
		name = lower(name)
		if (!sluice.SecretHeader(name) || hooked && (name == "token" || name == "uuid")) && !containedIn(redact, name) {
			headers = append(headers, sluice.Header{Name: name, Value: withoutToken(strings.Join(values, ", "), token)})
		}
	}
	slices.SortFunc(headers, func(a, b sluice.Header) int { return cmp.Compare(a.Name, b.Name) })
	return headers
}

func containedIn(lists [][]string, name string) bool {
	return slices.ContainsFunc(lists, func(list []string) bool { return slices.Contains(list, name) })
}

// withoutToken shortens tokens in the value of a header: that of the call, and any in
// the URL of a webhook. Proxies and browsers pass on the URL that was called in headers
// such as X-Original-Uri and Referer.
func withoutToken(value, token string) string {
	if len(token) == sluice.TokenLength && len(value) >= sluice.TokenLength {
		value = strings.ReplaceAll(value, token, "…"+sluice.Last6(token))
	}
	if !strings.Contains(value, "webhook.receive") && !strings.Contains(value, "hook") {
		return value
	}
	return tokenInURL.ReplaceAllString(value, "$1…$2")
}

var tokenInURL = regexp.MustCompile(`(?i)((?:token|uuid)(?:=|%3d)|/hook/|%2fhook%2f)[0-9a-f-]{30}([0-9a-f]{6})`)

// lower returns a header name in lower case, without an allocation for common ones.
func lower(name string) string {
	switch name {
	case "Accept":
		return "accept"
	case "Accept-Encoding":
		return "accept-encoding"
	case "Content-Length":
		return "content-length"
	case "Content-Type":
		return "content-type"
	case "User-Agent":
		return "user-agent"
	}
	return strings.ToLower(name)
}
