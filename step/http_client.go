package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/limit"
)

const maxRedirects = 5

// Bounds on connections. All connections to a host may stay open for later calls:
// otherwise bursts of calls would open and close them all the time.
const (
	maxConnections     = 128 // to one host; further calls wait for one
	maxIdleConnections = 1024
	idleTime           = 30 * time.Second
	connectTime        = 10 * time.Second // for the connection, and again for TLS
)

// A client makes the calls of http.request and http.forward, which share its connections.
type client struct {
	HTTPOptions

	follow http.Client // follows redirects
	stay   http.Client // does not
}

func newClient(o HTTPOptions) *client {
	const defaultMaxReply = 4 << 20
	if o.MaxReply <= 0 {
		o.MaxReply = defaultMaxReply
	}
	transport := GuardedTransport(o.AllowNetworks)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		o, http.Client{Transport: transport, CheckRedirect: checkRedirect},
		http.Client{Transport: transport, CheckRedirect: stay},
	}
}

// check finds what can't work in a URL and in expected statuses. A name may lead to any
// address, except for one.
func (c *client) check(known map[string]any) error {
	if text, ok := known["url"].(string); ok {
		target, err := parseURL(text)
		if err != nil {
			return err
		}
		host := target.Hostname()
		if host == "localhost" {
			host = "127.0.0.1"
		}
		if address, err := netip.ParseAddr(host); err == nil && !allowed(address, c.AllowNetworks) {
			return explain(context.Background(), target, errRefused)
		}
	}
	_, err := expectationOf(known["expect"])
	return err
}

// GuardedTransport returns a transport that connects only to the Internet and to networks
// that the operator allows.
func GuardedTransport(networks []netip.Prefix) *http.Transport {
	return guarded(func(addr netip.Addr) bool { return allowed(addr, networks) })
}

// NamedTransport returns a transport that connects only to networks that the operator allows,
// and not to the rest of the Internet.
func NamedTransport(networks []netip.Prefix) *http.Transport {
	return guarded(func(addr netip.Addr) bool { return limit.Contains(networks, addr.Unmap().WithZone("")) })
}

func guarded(may func(netip.Addr) bool) *http.Transport {
	dialer := &net.Dialer{Control: guard(may), Timeout: connectTime}
	return &http.Transport{ // no Proxy: it would connect for us, unguarded
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTime,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		MaxIdleConns:           maxIdleConnections,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaders,
	}
}

var errRefused = errors.New("the address is in a network that is not allowed")

// guard checks addresses when a connection is made. That is after the look-up of names
// and after each redirect, so neither can bypass it.
func guard(may func(netip.Addr) bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !may(target.Addr()) {
			return errRefused
		}
		return nil
	}
}

// carried are the headers that a redirect to another origin keeps. Others may be
// credentials under any name.
var carried = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Svc-Hops", sluice.TraceHeader, "Traceparent",
	"Tracestate", "User-Agent",
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return failed(via[0].URL, "it redirects too often")
	}
	if urlFault(next.URL) != "" {
		return failed(via[0].URL, "it redirects to a URL that is not plain http or https")
	}
	next.Header.Del("Referer") // it would reveal the query to another server
	first := via[0].URL
	elsewhere := func(r *http.Request) bool {
		return r.URL.Scheme != first.Scheme || !strings.EqualFold(r.URL.Host, first.Host)
	}
	if elsewhere(next) || slices.ContainsFunc(via, elsewhere) {
		maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return !slices.Contains(carried, name) })
	}
	return nil
}

// A sending says how to send a request.
type sending struct {
	by      *http.Client
	timeout *time.Duration // for redirects and reply as well; nil: 30s
	expect  expectation
}

// send makes a call in a span. The span has no path, which may hold a secret.
func (c *client) send(request *http.Request, s sending) (got answer, err error) {
	timeout := defaultTimeout
	if s.timeout != nil {
		timeout = *s.timeout
	}
	if timeout == 0 {
		return answer{}, invalid("timeout", "must be more than 0s and at most 5m")
	}
	if err := carryOn(request.Context(), request.Header); err != nil {
		return answer{}, err
	}
	if run := sluice.RunFrom(request.Context()); run != nil && run.Recorded != nil {
		return recorded(run, request, s.expect)
	}
	span := sluice.Span{
		Name: request.Method, Kind: sluice.ClientSpan,
		SpanFacts: sluice.SpanFacts{
			Method: request.Method, Secure: request.URL.Scheme == "https", Server: request.URL.Hostname(),
			Port: request.URL.Port(),
		},
	}
	err = c.Spans.Do(request.Context(), span, func(ctx context.Context) error {
		if traceparent := c.Spans.Traceparent(ctx); traceparent != "" {
			request.Header.Set("Traceparent", traceparent)
		}
		got, err = c.exchange(request.WithContext(ctx), s, timeout)
		return err
	})
	return got, err
}

// exchange makes a call and reads the reply within the timeout. It notes both for the
// report of the run.
func (c *client) exchange(request *http.Request, s sending, timeout time.Duration) (answer, error) {
	outer := request.Context()
	ctx, cancel := context.WithTimeout(outer, timeout)
	defer cancel()
	response, body, err := c.do(s.by, request.WithContext(ctx)) //nolint:bodyclose // do reads and closes it
	if response != nil {
		c.Spans.Add(outer, sluice.SpanFacts{StatusCode: response.StatusCode})
	}
	if run := sluice.RunFrom(outer); run != nil {
		run.NoteHTTP(exchangeOf(request, response, body))
	}
	if err != nil {
		return answer{}, explain(outer, request.URL, err)
	}
	if !s.expect.has(response.StatusCode) {
		return answer{}, s.expect.failed(request.URL, response)
	}
	return replyOf(response, body), nil
}

// do makes a call and reads the reply. If only reading the body fails, it returns the
// response and an error.
func (c *client) do(by *http.Client, request *http.Request) (*http.Response, []byte, error) {
	response, err := by.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := readReply(response.Body, c.MaxReply)
	return response, body, err
}

// explain returns an error that names only the host that the author wrote. It has no
// cause: errors of net/http quote URLs and replies, which may hold secrets.
func explain(ctx context.Context, target *url.URL, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if ours, ok := errors.AsType[*sluice.Error](err); ok {
		return ours
	}
	if errors.Is(err, errRefused) {
		return sluice.Errorf(sluice.CodeAddressRefused,
			"The call of %q leads to an address in a private or reserved network, where pipelines may not call; the "+
				"operator can allow a network with --http-allow.", target.Hostname())
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return sluice.Errorf(sluice.CodeHTTPTimeout,
			"The call of %q took too long; try again later, or give it a longer timeout.", target.Hostname())
	}
	return failed(target, reason(err))
}

func failed(target *url.URL, why string) *sluice.Error {
	return sluice.Errorf(sluice.CodeHTTPFailed, "The call of %q failed: %s.", target.Hostname(), why)
}

// maxNoted is how many bytes of a request or reply are noted. That is more than the report
// shows, so that secrets at the end of the report are still whole and can be found.
const maxNoted = 16 << 10

// exchangeOf returns a request and its reply as people read them.
func exchangeOf(request *http.Request, response *http.Response, body []byte) sluice.Exchange {
	e := sluice.Exchange{
		Method: request.Method, URL: request.URL.String(),
		Request: noted(request.Header, sentStart(request), int(request.ContentLength)),
	}
	if response != nil {
		e.StatusCode = response.StatusCode
		e.Response = noted(response.Header, body[:min(len(body), maxNoted)], len(body))
	}
	return e
}

// sentStart returns the beginning of the body of a request that was sent.
func sentStart(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	start, _ := io.ReadAll(io.LimitReader(body, maxNoted)) // it is in memory
	return start
}

// noted writes headers and the beginning of a body of that size.
func noted(header http.Header, start []byte, size int) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lower, value := strings.ToLower(name), strings.Join(header[name], ", ")
		if value == "" {
			continue
		}
		if sluice.SecretHeader(lower) {
			value = "***"
		}
		text.WriteString(lower + ": " + strings.ToValidUTF8(value, "\ufffd") + "\n")
	}
	if size == 0 {
		return text.String()
	}
	text.WriteByte('\n')
	for cut := 0; len(start) < size && cut < utf8.UTFMax-1 && !utf8.Valid(start); cut++ {
		start = start[:len(start)-1] // half a character
	}
	if !utf8.Valid(start) {
		fmt.Fprintf(&text, "(%d bytes that are not text)", size)
	} else {
		text.Write(start)
	}
	return text.String()
}

// recorded returns the recorded reply to a request, instead of sending it.
func recorded(run *sluice.Run, request *http.Request, expect expectation) (answer, error) {
	got, err := run.Recorded(request.Context(), exchangeOf(request, nil, nil))
	if err != nil {
		return answer{}, err
	}
	header, body, ok := readNoted(got.Response)
	if !ok {
		return answer{}, sluice.NotRecorded()
	}
	response := &http.Response{StatusCode: got.StatusCode, Header: header}
	if !expect.has(got.StatusCode) {
		return answer{}, expect.failed(request.URL, response)
	}
	return replyOf(response, []byte(body)), nil
}

var notText = regexp.MustCompile(`^\(\d+ bytes that are not text\)$`)

// readNoted parses a noted reply, and reports whether its body was noted.
func readNoted(text string) (header http.Header, body string, ok bool) {
	head, body, _ := strings.Cut("\n"+text, "\n\n")
	header = http.Header{}
	for line := range strings.Lines(strings.TrimPrefix(head, "\n")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		header.Set(name, value)
	}
	return header, body, !notText.MatchString(body)
}
