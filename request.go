package sluice

import (
	"context"
	"net/url"
	"strings"
)

// A Request is the HTTP request that led to a call, as far as pipelines see it.
type Request struct {
	Method     string
	RawQuery   string
	Header     map[string][]string // by canonical names
	RemoteAddr string
}

type requestKey struct{}

// WithRequest returns a context for what a request leads to.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, &r)
}

func requestFrom(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// IsHeaderName reports whether a header can have that name (a token of RFC 9110).
func IsHeaderName(name string) bool {
	for _, c := range []byte(name) {
		alphanumeric := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alphanumeric && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// CredentialHeader reports whether a header of a request or an answer, in lower case, is
// likely to carry a secret, by its name. It is masked where people look at what was sent.
func CredentialHeader(name string) bool {
	for _, word := range []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return SecretHeader(name)
}

// SecretHeader reports whether a header of a request, in lower case, is one that no event
// carries and no pipeline sees. Senders that need a CredentialHeader of another name have it
// in their events.
func SecretHeader(name string) bool {
	switch name {
	case "token", "uuid", "authorization", "cookie", "proxy-authorization", "x-gitlab-token":
		return true
	}
	return false
}

// RequestFrom returns the request that led to ctx as pipelines see it: method,
// query, headers and remoteAddr; nil if there is none.
func RequestFrom(ctx context.Context) map[string]any {
	r := requestFrom(ctx)
	if r == nil {
		return nil
	}
	given, _ := url.ParseQuery(r.RawQuery) // what is malformed was refused before
	query, headers := make(map[string]any, len(given)), make(map[string]any, len(r.Header))
	for name, values := range given {
		items := make([]any, len(values))
		for i, value := range values {
			items[i] = value
		}
		query[name] = items
	}
	for name, values := range r.Header {
		if name = strings.ToLower(name); !SecretHeader(name) {
			headers[name] = strings.Join(values, ", ")
		}
	}
	return map[string]any{"method": r.Method, "query": query, "headers": headers, "remoteAddr": r.RemoteAddr}
}
