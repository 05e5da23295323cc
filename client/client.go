// Package client talks to a server over HTTP, and keeps a person's logins. The
// command line is built on it, and knows no other way to a server.
package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"sluice"
	"sluice/outward"
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

// Fixed is a value of the header that never changes.
type Fixed string

// Authorization implements Credentials.
func (f Fixed) Authorization(context.Context, string) (string, error) { return string(f), nil }

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

// New returns a client of the server at a URL. Without credentials it calls as a stranger.
func New(server string, credentials Credentials) (*Client, error) {
	server, err := CleanURL(server)
	if err != nil {
		return nil, err
	}
	// Callers decide where to follow a redirect: credentials must not go to another host by one.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &Client{url: server, credentials: credentials, http: outward.Client(transport, 0)}, nil
}

// URL is where the server is.
func (c *Client) URL() string { return c.url }

// CloseIdle closes the connections that nothing uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// A request is one call of the server.
type request struct {
	method string // "" means GET
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

// decode reads the document of an answer. The error of one that is malformed has the code and the message.
func (a Answer) decode(into any, code sluice.Code, format string, args ...any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return code.Errorf(format, args...).Because(err)
	}
	return nil
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

// open makes a request. If the access token has just expired, it gets a new one and
// makes the request again.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	if r.open || c.credentials == nil {
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

// read reads an answer to its end.
func (c *Client) read(ctx context.Context, response *http.Response) (Answer, error) {
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return Answer{}, c.unreachable(ctx, err)
	}
	return Answer{response.StatusCode, response.Header, content}, nil
}

// refused reads the answer of a server that refuses.
func (c *Client) refused(ctx context.Context, response *http.Response) error {
	answer, err := c.read(ctx, response)
	if err != nil {
		return err
	}
	return refusal(answer)
}

// isSuccess reports whether a status means success. A redirect does not: a page that
// leads elsewhere is not what was asked for.
func isSuccess(status int) bool {
	return status >= http.StatusOK && status < http.StatusMultipleChoices
}
