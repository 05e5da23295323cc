package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// Token gives the token of the webhook with an event key.
func (c *Client) Token(ctx context.Context, eventKey string) (string, error) {
	answer, err := c.Command(ctx, "webhook.get", url.Values{"search": {eventKey}}, nil)
	if err != nil {
		return "", err
	}
	var hooks []struct {
		UUID     string `json:"uuid"`
		EventKey string `json:"eventKey"`
	}
	if err := json.Unmarshal(answer.Body, &hooks); err != nil {
		return "", sluice.Errorf(sluice.Internal, "webhooks-malformed", "The server gave no list of webhooks.").Because(err)
	}
	for _, hook := range hooks {
		switch {
		case hook.EventKey != eventKey:
		case strings.HasPrefix(hook.UUID, "…"):
			return "", sluice.Errorf(sluice.Forbidden, "forbidden", "The token of this webhook needs the permission webhook.token; ask an administrator, or give the token instead of the event key.")
		default:
			return hook.UUID, nil
		}
	}
	return "", sluice.Errorf(sluice.NotFound, "webhook-unknown", "There is no webhook with the event key %s; sluice command webhook.get lists those there are.", eventKey)
}

// Call calls a webhook as an outside system would.
func (c *Client) Call(ctx context.Context, token string, header http.Header, body *Body) (Result, error) {
	r := request{method: http.MethodPost, path: sluice.CommandPath + "webhook.receive", header: header.Clone(), open: true}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("token", token)
	if body != nil {
		r.body = body.Content
		if body.ContentType != "" {
			r.header.Set("Content-Type", body.ContentType)
		}
	}
	answer, err := c.do(ctx, r)
	if err != nil {
		return Result{}, err
	}
	return resultOf(answer)
}
