package webhook

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/emmansun/base64"

	"sluice"
	"sluice/value"
)

// maxText bounds text in an event. Escaping can make text up to six times as
// long; beyond this bound it is carried as base64, which always fits.
const maxText = 11 << 19 // 5.5 MiB

// encode gives an event the payload of its call, in the form that its webhook wants. What has
// to be written for that is in in.payload; large bodies are copied only when they are stored.
func (in *incoming) encode(e *sluice.Event) {
	raw := in.hook.PayloadType == sluice.Raw
	switch {
	case in.hook.PayloadType == sluice.Ignore:
		e.PayloadEncoding = sluice.EncodingNone
	case in.files != nil:
		in.payload = in.files.appendJSON(in.payload, raw)
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
	in.payload, ok = appendText(in.payload, in.body)
	return ok
}

// appendText appends bytes as a JSON string, if they are text that fits.
func appendText(b, text []byte) ([]byte, bool) {
	if !utf8.Valid(text) {
		return b, false
	}
	longer := value.AppendString(b, text)
	if len(longer) > maxText {
		return b, false
	}
	return longer, true
}

// appendBinary appends the body as the payload of an event that may be any bytes.
func (in *incoming) appendBinary(b []byte) []byte {
	return append(appendBase64(append(b, `{"origin":`...), in.body), '}')
}

// appendBase64 appends bytes as a JSON string in base64.
func appendBase64(b, data []byte) []byte {
	b = append(b, '"')
	n := base64.StdEncoding.EncodedLen(len(data))
	b = slices.Grow(b, n)
	base64.StdEncoding.Encode(b[len(b):len(b)+n], data)
	return append(b[:len(b)+n], '"')
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

// A query is the parameters of a URL in their order. Most calls have only the token,
// and a map for it would cost more than parsing the query.
type query []parameter

type parameter struct{ name, value string }

// maxParameters bounds the work that a query causes.
const maxParameters = 10_000

var errQuery = errors.New("malformed query")

// parseQuery appends the parameters of a raw query. Unlike url.ParseQuery it
// drops nothing: a malformed parameter is an error.
func parseQuery(q query, raw string) (query, error) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		if strings.Contains(pair, ";") || len(q) == maxParameters {
			return q, errQuery
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return q, errQuery
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return q, errQuery
		}
		q = append(q, parameter{name, value})
	}
	return q, nil
}

// all returns every value of a name.
func (q query) all(name string) (values []string) {
	for _, p := range q {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

// first returns the first value of a name, "" if there is none.
func (q query) first(name string) string {
	for _, p := range q {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// without returns the parameters except some names, as events carry them.
func (q query) without(names ...string) map[string][]string {
	var rest map[string][]string
	for _, p := range q {
		if slices.Contains(names, p.name) {
			continue
		}
		if rest == nil {
			rest = make(map[string][]string)
		}
		rest[p.name] = append(rest[p.name], p.value)
	}
	return rest
}
