package sluice

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

type requestKey struct{}

// WithRequest gives a context for what an HTTP request leads to.
func WithRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// private are the headers of requests that no pipeline sees.
var private = []string{"Authorization", "Cookie", "Proxy-Authorization", "Token", "Uuid"}

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
		if !slices.Contains(private, name) {
			headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	return map[string]any{"method": r.Method, "query": query, "headers": headers, "remoteAddr": r.RemoteAddr}
}
