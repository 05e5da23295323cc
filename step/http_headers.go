package step

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/outward"
)

const (
	maxURL        = 8 << 10
	maxHeaders    = 64 << 10 // bytes of the headers of a request
	maxHeaderName = 200
)

// parseURL returns the URL to call.
func parseURL(text string) (*url.URL, error) {
	target, err := url.Parse(text)
	if err != nil || len(text) > maxURL {
		return nil, invalid("url", "must be a URL of at most 8 KiB, such as https://api.example.com/leads")
	}
	if why := outward.Fault(target); why != "" {
		return nil, invalid("url", "%s", why)
	}
	target.RawQuery = strings.ReplaceAll(target.RawQuery, " ", "%20") // a space would end the request line
	return target, nil
}

// isHeaderName reports whether a request may have a header of that name.
func isHeaderName(name string) bool { return len(name) <= maxHeaderName && sluice.IsHeaderName(name) }

// framing has the headers that net/http sets itself.
var framing = []string{
	"Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Proxy-Connection", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// headerOf returns the headers that the author of a pipeline wants to send.
func headerOf(fields map[string]any) (http.Header, error) {
	header := http.Header{}
	size := 0
	for name, field := range fields {
		if !isHeaderName(name) {
			return nil, invalid("headers", "has a name that no header can have")
		}
		canonical := http.CanonicalHeaderKey(name)
		if slices.Contains(framing, canonical) || strings.HasPrefix(canonical, "Proxy-") {
			return nil, invalid("headers", "must not have %s: it is set by what is sent", canonical)
		}
		if header[canonical] != nil {
			return nil, invalid("headers", "has %s twice", canonical)
		}
		value, ok := headerValue(field)
		if !ok {
			return nil, invalid("headers", "must have one line of text, a number, or true or false for %s", canonical)
		}
		if size += len(name) + len(value); size > maxHeaders {
			return nil, invalid("headers", "must not have more than 64 KiB")
		}
		header.Set(canonical, value)
	}
	return header, nil
}

func headerValue(field any) (value string, ok bool) {
	switch field.(type) {
	case nil, []any, map[string]any:
		return "", false
	}
	value, err := cellOf(field)
	if err != nil || !utf8.ValidString(value) ||
		strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", false
	}
	return value, true
}
