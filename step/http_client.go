package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"sluice"
	"sluice/limit"
	"sluice/outward"
)

// A client makes the calls of steps, which share its connections.
type client struct {
	HTTPOptions

	guard       outward.Guard
	credentials *outward.Credentials
	follow      *http.Client // follows redirects
	stay        *http.Client // does not
	pools       *outward.Kept[line[*pgxpool.Pool]]
	clusters    *outward.Kept[line[*cluster]]
}

// maxReply bounds the body of a reply, in bytes.
const maxReply = 4 << 20

func newClient(o HTTPOptions) *client {
	guard := outward.Internet(o.AllowNetworks)
	transport := guard.Transport()
	transport.TLSClientConfig = o.TLS
	c := &client{
		HTTPOptions: o, guard: guard, credentials: outward.NewCredentials(transport),
		follow: outward.Following(transport), stay: outward.Client(transport, 0),
	}
	c.pools = keep(c, c.openPool, (*pgxpool.Pool).Close)
	c.clusters = keep(c, c.openCluster, func(k *cluster) { k.Close() })
	return c
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
		if address, err := netip.ParseAddr(host); err == nil && !c.guard.Allows(address) {
			return refusedAddress(target)
		}
	}
	_, err := expectationOf(known["expect"])
	return err
}

// A sending says how to send a request.
type sending struct {
	by      *http.Client
	auth    map[string]any // nil: none
	timeout time.Duration  // for redirects and reply as well; 0: 30s
	expect  expectation
	asks    string // URL that gives the token; "" if there is none
}

// send makes a call in a span. The span has no path, which may hold a secret.
func (c *client) send(request *http.Request, s sending) (got answer, err error) {
	if err := carryOn(request.Context(), request.Header); err != nil {
		return answer{}, err
	}
	auth, err := authOf(request, s.auth)
	if err != nil {
		return answer{}, err
	}
	run := sluice.RunFrom(request.Context())
	if run != nil && run.Recorded != nil {
		return recorded(run, request, s.expect)
	}
	if s.auth != nil {
		if err := c.carrying(request, &s, auth); err != nil {
			return answer{}, err
		}
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
		got, err = c.exchange(request.WithContext(ctx), s)
		return err
	})
	return got, err
}

// signature finds that of AWS.
var signature = regexp.MustCompile(`(Signature=)[0-9a-f]{64}`)

// exchange makes a call and reads the reply within the timeout. It notes both for the
// report of the run.
func (c *client) exchange(request *http.Request, s sending) (answer, error) {
	outer := request.Context()
	ctx, cancel := context.WithTimeout(outer, cmp.Or(s.timeout, defaultTimeout))
	defer cancel()
	//nolint:bodyclose // it is read and closed
	response, body, err := outward.Do(s.by, request.WithContext(ctx), maxReply)
	if err != nil {
		body = nil
	}
	if response != nil {
		c.Spans.Add(outer, sluice.SpanFacts{StatusCode: response.StatusCode})
	}
	if run := sluice.RunFrom(outer); run != nil {
		seen := exchangeOf(request, response, body)
		seen.Asked = s.asks
		if s.auth != nil { // some targets quote what they got
			seen.Response = signature.ReplaceAllString(seen.Response, "$1***")
		}
		run.NoteHTTP(seen)
		token, none := errors.AsType[*outward.TokenError](err)
		if s.asks != "" {
			from, _ := url.Parse(s.asks) // it was checked
			// a token that is kept counts as well
			run.NoteTarget(from, !none || inOrder(token.Reply))
		}
		if !none {
			run.NoteTarget(request.URL, inOrder(response))
		}
	}
	if err != nil {
		return answer{}, explain(outer, request.URL, err)
	}
	return s.expect.read(request.URL, response, body)
}

// inOrder reports whether a server does what it is there for, even if it refuses a request.
func inOrder(reply *http.Response) bool {
	return reply != nil && reply.StatusCode != http.StatusTooManyRequests &&
		reply.StatusCode < http.StatusInternalServerError
}

// explain returns an error that names only the host that the author wrote. It has no
// cause: errors of net/http quote URLs and replies, which may hold secrets.
func explain(ctx context.Context, target *url.URL, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if token, ok := errors.AsType[*outward.TokenError](err); ok {
		return authFailed(target, token)
	}
	switch why, redirected := errors.AsType[outward.RedirectError](err); {
	case redirected:
		return failed(target, why.Error())
	case errors.Is(err, limit.ErrTooLong):
		return sluice.CodeAnswerTooLarge.Errorf("The answer has more than %d bytes; ask for less.", maxReply)
	case errors.Is(err, outward.ErrRefused):
		return refusedAddress(target)
	case timedOut(err):
		return sluice.CodeHTTPTimeout.Errorf(
			"The call of %q took too long; try again later, or give it a longer timeout.", target.Hostname())
	}
	return failed(target, reason(err))
}

func refusedAddress(target *url.URL) error {
	return sluice.CodeAddressRefused.Errorf(
		"The call of %q leads to an address in a private or reserved network, where pipelines may not call; the "+
			"operator can allow a network with --http-allow.", target.Hostname())
}

func failed(target *url.URL, why string) *sluice.Error {
	return sluice.CodeHTTPFailed.Errorf("The call of %q failed: %s.", target.Hostname(), why)
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
	return expect.read(request.URL, &http.Response{StatusCode: got.StatusCode, Header: header}, []byte(body))
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
