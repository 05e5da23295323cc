package sluice

import (
	"context"
	"net/http"
	"strings"
)

type requestKey struct{}

// WithRequest gives a context for what an HTTP request leads to.
func WithRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// SecretHeader tells whether a header of a request, in lower case, is one that
// no event carries and no pipeline sees.
func SecretHeader(name string) bool {
	switch name {
	case "token", "uuid", "authorization", "cookie", "proxy-authorization":
		return true
	}
	return false
}

// RequestFrom gives the request that led to ctx as pipelines see it: method,
// query, headers and remoteAddr. It is nil if there is none.
func RequestFrom(ctx context.Context) map[string]any {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	if r == nil {
		return nil
	}
	query, headers := map[string]any{}, map[string]any{}
	for name, values := range r.URL.Query() {
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
