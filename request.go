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

// RequestFrom returns the request that led to ctx as pipelines see it: method,
// query, headers and remoteAddr; nil if there is none.
func RequestFrom(ctx context.Context) map[string]any {
	r := requestFrom(ctx)
	if r == nil {
		return nil
	}
	given, _ := url.ParseQuery(r.RawQuery) // a malformed one was refused before
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
