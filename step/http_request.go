package step

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// HTTPOptions are what http.request and http.forward need.
type HTTPOptions struct {
	AllowNetworks []netip.Prefix // may be called although they are not on the Internet
	TLS           *tls.Config    // nil means the usual one
	Idle          time.Duration  // after which connections to databases and clusters are closed; 0 means a minute
	Spans         sluice.Spans   // reports calls, and passes the trace on
}

const defaultTimeout = 30 * time.Second

type requestParams struct {
	URL     string         `json:"url" required:"true" doc:"What to call, by http or https."`
	Method  string         `json:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS" doc:"Default GET."`
	Headers map[string]any `json:"headers" doc:"Headers to send. Those that frame the request, such as Host, are refused."`
	Body    any            `json:"body" doc:"What to send: text as it is, other values as JSON."`
	Timeout time.Duration  `json:"timeout" min:"1ms" max:"5m" doc:"How long the call may take with redirects and answer. Default 30s."`
	Auth    map[string]any `json:"auth" literal:"*" doc:"The credential to send, by the names of secrets: basic, bearer, oauth2, aws or google, and certificate. See docs/targets.md."`
	Expect  any            `json:"expect" doc:"Statuses that are fine, such as 2xx, or 200,404: the step fails with another one. Default any."`
}

func (c *client) request(ctx context.Context, p requestParams) (answer, error) {
	expect, err := expectationOf(p.Expect)
	if err != nil {
		return answer{}, err
	}
	request, err := newRequest(ctx, p)
	if err != nil {
		return answer{}, err
	}
	return c.send(request, sending{by: c.follow, auth: p.Auth, timeout: p.Timeout, expect: expect})
}

// carryOn sets the headers that tell the called server what caused the call.
func carryOn(ctx context.Context, header http.Header) error {
	run := sluice.RunFrom(ctx)
	if run == nil {
		hops, err := sluice.NextHop(ctx)
		header.Set(sluice.HopsHeader, strconv.Itoa(hops+1))
		return err
	}
	if run.TraceID != "" {
		header.Set(sluice.TraceHeader, run.TraceID)
	}
	header.Set(sluice.HopsHeader, strconv.Itoa(run.Hops+1))
	return nil
}

func newRequest(ctx context.Context, p requestParams) (*http.Request, error) {
	target, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(p.Headers)
	if err != nil {
		return nil, err
	}
	body, contentType, err := bodyOf(p.Body)
	if err != nil {
		return nil, err
	}
	if contentType != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", contentType)
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(p.Method, http.MethodGet), target.String(),
		strings.NewReader(body))
	if err != nil {
		return nil, invalid("url", "can't be called as it is")
	}
	request.Header = header
	setAgent(header)
	return request, nil
}

// setAgent sets the User-Agent, unless there is one.
func setAgent(header http.Header) {
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "sluice")
	}
}

// bodyOf returns what to send and its content type, or nothing for no body.
func bodyOf(body any) (text, contentType string, err error) {
	switch body := body.(type) {
	case nil:
		return "", "", nil
	case string:
		if len(body) > value.MaxSize {
			return "", "", value.TooLarge(value.MaxSize)
		}
		return body, "text/plain; charset=utf-8", nil
	default:
		text, err = encodeJSON(body)
		return text, "application/json", err
	}
}

// An answer is the output of http.request. Its name is that of the API's schema, StepAnswer.
type answer struct {
	StatusCode int               `json:"statusCode" doc:"The HTTP status."`
	Headers    map[string]string `json:"headers" doc:"The headers, with names in lower case."`
	Body       any               `json:"body" doc:"The body: a JSON value, a text, or base64."`
	Encoding   string            `json:"encoding,omitempty" doc:"base64, if the body is bytes."`
}

// read returns a reply, unless its status is not fine.
func (e expectation) read(target *url.URL, response *http.Response, body []byte) (r answer, err error) {
	if !e.has(response.StatusCode) {
		return r, e.failed(target, response)
	}
	r.StatusCode, r.Headers = response.StatusCode, make(map[string]string, len(response.Header))
	for name, values := range response.Header {
		r.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
	}
	if !utf8.Valid(body) {
		r.Body, r.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return r, nil
	}
	r.Body = string(body)
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	levels, _ := value.Inspect(body)
	if err == nil && value.IsMediaType(mediaType) && levels <= value.MaxDepth { // the reply adds a level
		if decoded, err := decodeJSON(string(body)); err == nil {
			r.Body = decoded
		}
	}
	return r, nil
}

// timedOut reports whether a call failed since it took too long.
func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// reason returns why a call failed, in words that help the author of the pipeline.
func reason(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return "there is no such host"
		}
		return "the name of the host could not be looked up"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of the host is not trusted"
	}
	if timedOut(err) {
		return "it took too long"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "the host refuses connections on that port"
	}
	return "the connection broke, or what came was not a valid answer"
}

// An expectation lists the statuses that are fine, such as 200 or 2xx. An empty one
// accepts every status.
type expectation []string

var expectedStatus = regexp.MustCompile(`^[1-5](xx|[0-9]{2})$`)

// expectationOf reads the parameter expect: a list of statuses, or a text with commas
// between them.
func expectationOf(given any) (expectation, error) {
	if given == nil {
		return nil, nil
	}
	items, isList := given.([]any)
	if !isList {
		text, err := cellOf(given)
		if err != nil {
			return nil, err
		}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
	}
	var e expectation
	for _, item := range items {
		text, err := cellOf(item)
		if err != nil {
			return nil, err
		}
		status := strings.ToLower(strings.TrimSpace(text))
		if !expectedStatus.MatchString(status) {
			return nil, invalid("expect", "must be statuses such as 200 or 2xx, with commas between them")
		}
		e = append(e, status)
	}
	return e, nil
}

// has reports whether a status is fine.
func (e expectation) has(status int) bool {
	for _, expected := range e {
		if expected == strconv.Itoa(status) || expected == strconv.Itoa(status/100)+"xx" {
			return true
		}
	}
	return len(e) == 0
}

// failed is the error of an unexpected status.
func (e expectation) failed(target *url.URL, response *http.Response) error {
	return repliedWith(response, sluice.CodeHTTPStatus.Errorf(
		"The call of %q was answered with %d, where %s is expected.",
		target.Hostname(), response.StatusCode, strings.Join(e, " or ")))
}

// repliedWith returns the error of a reply as one that a retry may help, or not.
func repliedWith(response *http.Response, e *sluice.Error) error {
	kind := sluice.Invalid
	switch status := response.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		kind = sluice.Unavailable
	}
	wait, _ := sluice.RetryAfter(response.Header.Get("Retry-After"), time.Now())
	return e.OfKind(kind).After(wait)
}
