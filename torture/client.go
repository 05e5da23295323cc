package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sluice"
)

// maxRedirects is more than a result that is ready in time needs.
const maxRedirects = 30

// A client talks to one server, over connections that it keeps.
type client struct {
	url  string
	http *http.Client
}

// newClient returns a client for that many calls at the same time.
func newClient(url string, connections int) *client {
	return &client{url: url, http: &http.Client{
		Timeout:   readyWithin,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("redirected too often")
			}
			return nil
		},
	}}
}

// close closes the connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// receive calls the webhook with that token. Only a whole answer counts.
func (c *client) receive(ctx context.Context, token string, id uint64, body []byte) (result sluice.Result, err error) {
	target := c.url + "/api/v3/command/webhook.receive?id=" + strconv.FormatUint(id, 10)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return result, err
	}
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", "application/octet-stream")
	if bytes.HasPrefix(body, []byte("[")) { // no id begins like this
		r.Header.Set("Content-Type", "application/json")
	}
	content, err := c.do(r)
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(content, &result)
}

// result polls for the result of a call until it is ready: the server holds each
// poll for some seconds, then redirects.
func (c *client) result(ctx context.Context, correlationID string) (result sluice.Result, err error) {
	target := c.url + "/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid=" +
		url.QueryEscape(correlationID)
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return result, err
	}
	content, err := c.do(r)
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(content, &result)
}

// store stores a pipeline.
func (c *client) store(ctx context.Context, name, source string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.url+"/api/v3/pipeline/"+name, strings.NewReader(source))
	if err != nil {
		return err
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	if _, err := c.do(r); err != nil {
		return fmt.Errorf("pipeline %s: %w", name, err)
	}
	return nil
}

// command calls a command as the admin and decodes its answer into out.
func (c *client) command(ctx context.Context, name string, params map[string]any, out any) error {
	content, err := json.Marshal(params)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/api/v3/command/"+name, bytes.NewReader(content))
	if err != nil {
		return err
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	r.Header.Set("Content-Type", "application/json")
	if content, err = c.do(r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return json.Unmarshal(content, out)
}

// do sends a request and reads the whole answer. Anything but 200 is an error.
func (c *client) do(r *http.Request) ([]byte, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(content))
	}
	return content, nil
}
