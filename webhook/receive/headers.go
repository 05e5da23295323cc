package receive

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"sluice"
)

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
