package sluice

import (
	"context"
	"net/url"
	"strconv"
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

// MaxHops is how many events and pipelines may follow from each other. More count as a
// loop.
const MaxHops = 16

// NextHop returns the hops of what the run or the request of ctx sends or starts.
func NextHop(ctx context.Context) (hops int, err error) {
	if run := RunFrom(ctx); run != nil {
		if run.Hops >= MaxHops {
			return 0, tooManyHops(Invalid)
		}
		return run.Hops + 1, nil
	}
	if r := requestFrom(ctx); r != nil {
		return HopsOf(r.Header)
	}
	return 0, nil
}

// HopsOf returns how many events and pipelines led to a request with these
// headers, and an error if they are too many. Callers who make a number up harm
// only what follows from their request.
func HopsOf(header map[string][]string) (int, error) {
	given := header[HopsHeader]
	if len(given) == 0 {
		return 0, nil
	}
	hops, _ := strconv.Atoi(given[0]) // a malformed number counts as 0
	if hops > MaxHops {
		return 0, tooManyHops(Loop)
	}
	return max(0, hops), nil
}

func tooManyHops(kind Kind) *Error {
	return CodeTooManyHops.Errorf(
		"This is the %dth event or pipeline that follows from another; pipelines seem to start each other in a loop.",
		MaxHops+1).OfKind(kind)
}
