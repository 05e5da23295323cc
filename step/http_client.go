package step

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"sluice"
)

const maxRedirects = 5

// A client makes the calls of http.request.
type client struct {
	http      http.Client
	maxAnswer int64
	spans     sluice.Spans
}

func newClient(o HTTPOptions) *client {
	const defaultMaxAnswer = 4 << 20
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = defaultMaxAnswer
	}
	dialer := &net.Dialer{Control: guard(o.AllowNetworks)}
	transport := &http.Transport{ // no Proxy: it would connect in our place, unguarded
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeaders,
	}
	return &client{http: http.Client{Transport: transport, CheckRedirect: checkRedirect}, maxAnswer: o.MaxAnswer, spans: o.Spans}
}

// errRefused is that an address is not allowed.
var errRefused = errors.New("the address is in a network that is not allowed")

// guard refuses addresses when a connection is made, behind the look-up of
// names and each redirect, so that neither leads past it.
func guard(networks []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(target.Addr(), networks) {
			return errRefused
		}
		return nil
	}
}

// carried are the headers that go along with a redirect to another place. The
// others may be credentials, by whatever name.
var carried = map[string]bool{
	"Accept":           true,
	"Accept-Encoding":  true,
	"Accept-Language":  true,
	"Content-Type":     true,
	"Svc-Hops":         true,
	sluice.TraceHeader: true,
	"Traceparent":      true,
	"Tracestate":       true,
	"User-Agent":       true,
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return failed(via[0].URL, "it redirects too often")
	}
	if urlFault(next.URL) != "" {
		return failed(via[0].URL, "it redirects to a URL that is not plain http or https")
	}
	next.Header.Del("Referer") // would tell the query of one server to another
	elsewhere := func(r *http.Request) bool { return !sameOrigin(r.URL, via[0].URL) }
	if elsewhere(next) || slices.ContainsFunc(via, elsewhere) {
		maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return !carried[name] })
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// call makes a call in a span. That has no path: there may be a secret in it.
func (c *client) call(request *http.Request, timeout time.Duration) (got answer, err error) {
	span := sluice.Span{
		Name: request.Method, Kind: sluice.ClientSpan,
		SpanFacts: sluice.SpanFacts{Method: request.Method, Server: request.URL.Hostname()},
	}
	err = c.spans.Do(request.Context(), span, func(ctx context.Context) error {
		if traceparent := c.spans.Traceparent(ctx); traceparent != "" {
			request.Header.Set("Traceparent", traceparent)
		}
		got, err = c.do(request.WithContext(ctx), timeout)
		c.spans.Add(ctx, sluice.SpanFacts{StatusCode: got.StatusCode})
		return err
	})
	return got, err
}

// do makes a call and reads its answer, within the timeout in all.
func (c *client) do(request *http.Request, timeout time.Duration) (answer, error) {
	outer := request.Context()
	ctx, cancel := context.WithTimeout(outer, timeout)
	defer cancel()
	response, err := c.http.Do(request.WithContext(ctx))
	if err != nil {
		return answer{}, explain(outer, request.URL, err)
	}
	defer response.Body.Close()
	body, err := readAnswer(response.Body, c.maxAnswer)
	if err != nil {
		return answer{}, explain(outer, request.URL, err)
	}
	return answerOf(response, body), nil
}

// explain gives an error that names nothing but the host that the author
// wrote. It has no cause: those of net/http quote URLs and answers, which may
// have secrets in them.
func explain(ctx context.Context, target *url.URL, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if ours, ok := errors.AsType[*sluice.Error](err); ok {
		return ours
	}
	if errors.Is(err, errRefused) {
		return sluice.Errorf(sluice.Forbidden, "address-refused",
			"The call of %q leads to an address in a private or reserved network, where pipelines may not call; the operator can allow a network with --http-allow.", target.Hostname())
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return sluice.Errorf(sluice.Unavailable, "http-timeout", "The call of %q took too long; try again later, or give it a longer timeout.", target.Hostname())
	}
	return failed(target, reason(err))
}

func failed(target *url.URL, why string) *sluice.Error {
	return sluice.Errorf(sluice.Unavailable, "http-failed", "The call of %q failed: %s.", target.Hostname(), why)
}
