// Package client talks to a server over HTTP, and keeps a person's logins. The
// command line is built on it, and knows no other way to a server. It asks the
// server which commands there are, so that it can call those of newer servers,
// too.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/outward"
	"sluice/problem"
)

// maxAnswer bounds an answer: a list of events may be long.
const maxAnswer = 256 << 20

// A Client calls one server.
type Client struct {
	url         string
	credentials Credentials
	http        *http.Client
}

// Credentials say who is calling.
type Credentials interface {
	// Authorization returns the value of the header. If the server has just refused
	// a value that was valid before, refused is that value.
	Authorization(ctx context.Context, refused string) (string, error)
}

// Fixed is a value of the header that never changes; "" sends none.
type Fixed string

// Authorization implements Credentials.
func (f Fixed) Authorization(context.Context, string) (string, error) { return string(f), nil }

// New returns a client of the server at a URL.
func New(server string, credentials Credentials) (*Client, error) {
	server, err := CleanURL(server)
	if err != nil {
		return nil, err
	}
	// Callers decide where to follow a redirect: credentials must not go to another host by one.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &Client{url: server, credentials: credentials, http: outward.Client(transport, 0)}, nil
}

// CleanURL returns the URL of a server in the form that is stored and compared. A
// missing scheme is http for this machine and private networks, otherwise https.
func CleanURL(text string) (string, error) {
	whole := strings.TrimRight(withScheme(strings.TrimSpace(text)), "/")
	u, err := url.Parse(whole)
	if err != nil || !sluice.IsServerURL(whole) {
		return "", usage("%q is no URL of a server; give one such as https://hooks.example.com or 127.0.0.1:8080.", text)
	}
	u.Host = strings.ToLower(u.Host)
	return u.String(), nil
}

// withScheme adds the scheme to a URL that has none.
func withScheme(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
	if u, err := url.Parse("http://" + text); err == nil && !isPrivate(u.Hostname()) {
		return "https://" + text
	}
	return "http://" + text
}

// isPrivate reports whether a host is this machine or one of a private network.
func isPrivate(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	endings := []string{".localhost", ".local", ".internal", ".lan", ".test"}
	return !strings.Contains(host, ".") || slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(host, ending) })
}

// URL is where the server is.
func (c *Client) URL() string { return c.url }

// CloseIdle closes the connections that nothing uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// A request is one call of the server.
type request struct {
	method string
	path   string // below the server's URL, with its query
	body   []byte
	header http.Header
	open   bool // no credentials are sent
	polls  bool // a redirect is an answer, too
}

// An Answer is what the server answered with success.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// do makes a request. What the server refuses is an *sluice.Error.
func (c *Client) do(ctx context.Context, r request) (Answer, error) {
	response, err := c.open(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.read(ctx, response)
	if err != nil {
		return Answer{}, err
	}
	if isSuccess(answer.Status) || r.polls && answer.Status == http.StatusFound {
		return answer, nil
	}
	return answer, refusal(answer)
}

// read reads an answer to its end.
func (c *Client) read(ctx context.Context, response *http.Response) (Answer, error) {
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return Answer{}, c.unreachable(ctx, err)
	}
	return Answer{response.StatusCode, response.Header, content}, nil
}

// isSuccess reports whether a status means success. A redirect does not: a page that
// leads elsewhere is not what was asked for.
func isSuccess(status int) bool {
	return status >= http.StatusOK && status < http.StatusMultipleChoices
}

// open makes a request. If the access token has just expired, it gets a new one and
// makes the request again.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	if r.open {
		return c.send(ctx, r, "")
	}
	authorization, err := c.credentials.Authorization(ctx, "")
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, r, authorization)
	if err != nil || !refusedToken(response) {
		return response, err
	}
	renewed, err := c.credentials.Authorization(ctx, authorization)
	if err != nil {
		response.Body.Close()
		return nil, err
	}
	if renewed == authorization {
		return response, nil
	}
	response.Body.Close()
	return c.send(ctx, r, renewed)
}

// refusedToken reports whether the server did nothing because the access token is
// not valid. A pipeline can answer 401 as well, after it has run.
func refusedToken(response *http.Response) bool {
	challenges := strings.Join(response.Header.Values("WWW-Authenticate"), ", ")
	return response.StatusCode == http.StatusUnauthorized && strings.Contains(challenges, `error="invalid_token"`)
}

func (c *Client) send(ctx context.Context, r request, authorization string) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	httpRequest, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, body)
	if err != nil {
		return nil, usage("This can't be sent: %v.", err)
	}
	httpRequest.Header.Set("User-Agent", "sluice")
	for name, values := range r.header {
		httpRequest.Header[http.CanonicalHeaderKey(name)] = values
	}
	if authorization != "" {
		httpRequest.Header.Set("Authorization", authorization)
	}
	response, err := c.http.Do(httpRequest)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return response, nil
}

// unreachable is the error for a server that does not answer.
func (c *Client) unreachable(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	reason := "does not answer"
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(cause, &lookup):
		reason = "has a name that is not known"
	case errors.As(cause, &op) && op.Op == "dial":
		reason = "can't be reached"
	case strings.Contains(cause.Error(), "tls:"), strings.Contains(cause.Error(), "x509:"):
		reason = fmt.Sprintf("has no certificate that is trusted here (%v)", rootOf(cause))
	case strings.Contains(cause.Error(), "server gave HTTP response to HTTPS"):
		reason = "speaks http, not https"
	}
	return sluice.Errorf(sluice.CodeServerUnreachable, "The server %s %s; check the URL, and that it runs.", c.url, reason).Because(cause)
}

func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func usage(format string, args ...any) *sluice.Error {
	return sluice.Errorf(sluice.CodeUsage, format, args...)
}

// Password returns the header of a username and a password.
func Password(username, password string) Fixed {
	return Fixed("Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
}

// Token returns the header of a token. It may begin with its scheme, as in
// Refresh <token>. Otherwise one with two dots is an access token, and any other a
// refresh token.
func Token(token string) Fixed {
	switch {
	case strings.Contains(token, " "):
		return Fixed(token)
	case strings.Count(token, ".") == 2:
		return Fixed("Bearer " + token)
	}
	return Fixed("Refresh " + token)
}

func refusal(a Answer) *sluice.Error {
	if a.Status < http.StatusBadRequest {
		return elsewhere(a)
	}
	var p sluice.Problem
	var oauth struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &p)     // the body has one of these forms, or another:
	_ = json.Unmarshal(a.Body, &oauth) // then the fields stay empty
	kind := problem.KindOf(a.Status)
	if oauth.Code == sluice.CodeInvalidGrant.Word {
		kind = sluice.Unauthenticated
	}
	code := cmp.Or(oauth.Code, p.Code, "status-"+strconv.Itoa(a.Status))
	message := cmp.Or(oauth.Description, p.Detail,
		"The server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)+"; is there a sluice at this URL?")
	return (&sluice.Error{Kind: kind, Code: code, Message: message}).WithStatus(a.Status).About(p.Parameter).InCall(p.TraceID).
		At(sluice.Position{Line: p.Line, Column: p.Column, Snippet: p.Snippet, Step: p.Step}).After(retryAfter(a.Header)).Detailed(p.Errors)
}

// elsewhere is the error for a redirect, such as a proxy's to HTTPS. It names the
// host, but not the path or query, which may be secret.
func elsewhere(a Answer) *sluice.Error {
	target := "elsewhere"
	if to, err := url.Parse(a.Header.Get("Location")); err == nil && to.Host != "" {
		target = "to " + to.Scheme + "://" + to.Host
	}
	return sluice.Errorf(sluice.CodeRedirected, "The server leads %s; log in with the URL where sluice is.", target).WithStatus(a.Status)
}

// retryAfter reads the header of that name, 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
