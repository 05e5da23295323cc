package outward

import (
	"cmp"
	"net/http"
	"time"

	"sluice/limit"
)

// Bounds on connections. All connections to a host may stay open for later calls:
// otherwise bursts of calls would open and close them all the time.
const (
	maxConnections     = 128 // to one host; further calls wait for one
	maxIdleConnections = 1024
	idleTime           = 30 * time.Second
	maxHeaders         = 64 << 10 // bytes of the headers of a reply
)

// Transport returns a transport that connects only to what the guard allows.
func (g Guard) Transport() *http.Transport {
	return &http.Transport{ // no Proxy: it would connect for us, unguarded
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTime,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		MaxIdleConns:           maxIdleConnections,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaders,
	}
}

// Client returns a client that follows no redirects. A timeout of 0 means none, a nil transport
// the usual one.
func Client(transport http.RoundTripper, timeout time.Duration) *http.Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: stay}
}

// Do makes a call and reads the reply, of which longest bytes are allowed: limit.ErrTooLong. If
// only reading the body fails, it returns the response and an error.
func Do(client *http.Client, request *http.Request, longest int64) (*http.Response, []byte, error) {
	//nolint:gosec // the transport of the client decides where it may go
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := limit.ReadAll(response.Body, longest)
	return response, body, err
}

// Bounded returns a client for libraries that would read endless replies.
func Bounded(client *http.Client, longest int64) *http.Client {
	limited := *client
	limited.Transport = boundedTransport{cmp.Or(client.Transport, http.DefaultTransport), longest}
	return &limited
}

type boundedTransport struct {
	http.RoundTripper

	longest int64
}

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, t.longest)
	}
	return response, err
}
