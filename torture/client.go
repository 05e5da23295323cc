package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sluice"
	"sluice/iam"
)

// A client talks to one server, over connections that it keeps.
type client struct {
	url  string
	http *http.Client
}

// newClient gives a client for so many calls at the same time.
func newClient(url string, connections int) *client {
	return &client{url: url, http: &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections},
	}}
}

// close gives up the connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// receive calls the webhook with that token. Only a whole answer counts.
func (c *client) receive(ctx context.Context, token string, id uint64, body []byte) (receipt, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/api/v3/command/webhook.receive", bytes.NewReader(body))
	if err != nil {
		return receipt{}, err
	}
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", "application/octet-stream")
	header, _, err := c.do(r)
	if err != nil {
		return receipt{}, err
	}
	return receipt{id, header.Get("svc-trace-id"), header.Get("svc-result-correlationid")}, nil
}

// traceOf polls for the result of a call and gives its trace id.
func (c *client) traceOf(ctx context.Context, correlationID string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/api/v3/result?svc-result-correlationid="+url.QueryEscape(correlationID), nil)
	if err != nil {
		return "", err
	}
	_, content, err := c.do(r)
	if err != nil {
		return "", err
	}
	var result sluice.Result
	err = json.Unmarshal(content, &result)
	return result.TraceID, err
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
	r.SetBasicAuth(iam.AdminName, adminPassword)
	r.Header.Set("Content-Type", "application/json")
	if _, content, err = c.do(r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return json.Unmarshal(content, out)
}

// do sends a request and reads the whole answer. Anything but 200 is an error.
func (c *client) do(r *http.Request) (http.Header, []byte, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(content))
	}
	return answer.Header, content, nil
}
