package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	commandPath  = "/api/v3/command/"
	pipelinePath = "/api/v3/pipeline/"
	receivePath  = commandPath + "webhook.receive?token="
	getPath      = commandPath + "webhook.get?uuid="
	resultPath   = "/api/v3/result?svc-result-correlationid="
	tokenPath    = "/auth/realms/default/protocol/openid-connect/token"
)

// adminPassword protects nothing: the servers live for minutes, on loopback.
const adminPassword = "benchmark of sluice"

// asAdmin is the admin's Authorization header.
var asAdmin = basic("admin", adminPassword)

// basic returns the Authorization header of a username and password.
func basic(username, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
}

// A client calls one server, over connections that it keeps.
type client struct {
	base string // http:// or https://, and an address
	http http.Client
}

// mostRedirects is for results: each poll is held for 5 seconds.
const mostRedirects = 100

// newClient returns a client for that many calls at the same time.
func newClient(base string, connections int) (*client, error) {
	jar, err := cookiejar.New(nil) // for the portal's session
	return &client{base: base, http: http.Client{
		Jar:       jar,
		Timeout:   10 * time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, TLSClientConfig: anyCertificate},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > mostRedirects {
				return errors.New("redirected too often")
			}
			return nil
		},
	}}, err
}

// An httpRequest is a GET, or a POST if it has a body.
type httpRequest struct {
	method, path, body string
	header             map[string]string
	want               []int // statuses that are no error; 200 if empty
}

// An answer is that to a request.
type answer struct {
	status  int
	header  http.Header
	path    string // of the last redirect
	content []byte
}

// send sends a request and reads the whole answer. Redirects are followed
// unless they are wanted.
func (c *client) send(ctx context.Context, out httpRequest) (answer, error) {
	if out.method == "" && out.body != "" {
		out.method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, out.method, c.base+out.path, strings.NewReader(out.body))
	if err != nil {
		return answer{}, err
	}
	for name, value := range out.header {
		request.Header.Set(name, value)
	}
	do := c.http.Do
	if slices.Contains(out.want, http.StatusFound) {
		do = c.http.Transport.RoundTrip
	}
	response, err := do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	in := answer{status: response.StatusCode, header: response.Header, path: response.Request.URL.Path}
	if in.content, err = io.ReadAll(response.Body); err != nil {
		return answer{}, err
	}
	if !slices.Contains(out.want, in.status) && (in.status != http.StatusOK || len(out.want) > 0) {
		return in, fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, in.content)
	}
	return in, nil
}

// post sends a form and decodes the JSON of the answer, unless into is nil.
func (c *client) post(ctx context.Context, path, authorization string, form url.Values, into any) error {
	header := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	if authorization != "" {
		header["Authorization"] = authorization
	}
	in, err := c.send(ctx, httpRequest{method: http.MethodPost, path: path, body: form.Encode(), header: header})
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(in.content, into)
}

// command calls a command as the admin.
func (c *client) command(ctx context.Context, name string, args url.Values, into any) error {
	return c.post(ctx, commandPath+name, asAdmin, args, into)
}

// awaitAdmin returns once the server knows its admin, which it creates when it
// is ready.
func (c *client) awaitAdmin(ctx context.Context) (err error) {
	for range 100 {
		if err = c.command(ctx, "webhook.get", url.Values{"limit": {"1"}}, nil); err == nil {
			return nil
		}
		pause(ctx, 100*time.Millisecond)
	}
	return err
}

// createWebhook creates the webhook of that key and returns its token.
func (c *client) createWebhook(ctx context.Context, eventKey string) (token string, err error) {
	return c.createWebhookWith(ctx, url.Values{"eventKey": {eventKey}})
}

// createWebhookWith creates the webhook that parameters describe.
func (c *client) createWebhookWith(ctx context.Context, params url.Values) (token string, err error) {
	var created struct {
		UUID string `json:"uuid"`
	}
	err = c.command(ctx, "webhook.put", params, &created)
	return created.UUID, err
}

// benchKey is the event key of the webhook of that number.
func benchKey(number int) string { return fmt.Sprintf("webhook.bench.%d", number) }

// createWebhooks creates webhooks and returns their tokens.
func (c *client) createWebhooks(ctx context.Context, n int) ([]string, error) {
	if err := c.awaitAdmin(ctx); err != nil {
		return nil, err
	}
	tokens := make([]string, n)
	return tokens, inParallel(ctx, writers, n, func(ctx context.Context, i int) (err error) {
		tokens[i], err = c.createWebhook(ctx, benchKey(i))
		if i > 0 && i%20_000 == 0 {
			progressf("%s of %s webhooks created", grouped(float64(i)), grouped(float64(n)))
		}
		return err
	})
}

// storePipeline stores a pipeline.
func (c *client) storePipeline(ctx context.Context, name, source string) error {
	header := map[string]string{"Content-Type": "application/yaml", "Authorization": asAdmin}
	_, err := c.send(ctx, httpRequest{method: http.MethodPut, path: pipelinePath + name, body: source, header: header})
	return err
}

// writers is how many things are created at the same time.
const writers = 64

// inParallel does something n times, several at the same time, until one fails.
func inParallel(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, n) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
