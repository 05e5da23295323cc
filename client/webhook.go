package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// Token returns the token of the webhook with an event key.
func (c *Client) Token(ctx context.Context, eventKey string) (string, error) {
	answer, err := c.Command(ctx, "webhook.get", url.Values{"eventKey": {eventKey}}, nil)
	if err != nil {
		return "", err
	}
	var hook struct {
		UUID string `json:"uuid"`
	}
	if err := json.Unmarshal(answer.Body, &hook); err != nil {
		return "", sluice.Errorf(sluice.Internal, "webhook-malformed", "The server gave no webhook.").Because(err)
	}
	if strings.HasPrefix(hook.UUID, "…") {
		return "", sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return hook.UUID, nil
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
