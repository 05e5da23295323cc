package client

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// Webhook returns the webhook with an event key, to users who may see its token.
func (c *Client) Webhook(ctx context.Context, eventKey string) (hook sluice.WebhookView, err error) {
	err = c.Decode(ctx, "webhook.get", url.Values{"eventKey": {eventKey}}, nil, &hook)
	if err == nil && strings.HasPrefix(hook.OpenToken(), "…") {
		err = sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return hook, err
}

// Call calls a webhook as an outside system would.
func (c *Client) Call(ctx context.Context, token string, header http.Header, body *Body) (Result, error) {
	r := request{method: http.MethodPost, path: sluice.ReceivePath, header: header.Clone(), open: true}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("token", token)
	r.carry(body)
	return c.receive(ctx, r)
}

// Sign lets the server make a signed call of the webhook with an event key. It has the
// body, or that of a sample of the webhook's provider.
func (c *Client) Sign(ctx context.Context, eventKey, sample string, body *Body) (made sluice.SignedCall, err error) {
	params := url.Values{"eventKey": {eventKey}}
	payload := &Body{}
	if body != nil {
		payload.Content = body.Content
		params.Set("contentType", body.ContentType)
	}
	if sample != "" {
		params.Set("sample", sample)
	}
	return made, c.Decode(ctx, "webhook.sign", params, payload, &made)
}

// CallSigned sends a signed call. The given headers replace those of the sender.
func (c *Client) CallSigned(ctx context.Context, made sluice.SignedCall, header http.Header) (Result, error) {
	_, query, _ := strings.Cut(made.URL, "?") // it has the token; the host may be wrong from here
	r := request{
		method: http.MethodPost, path: sluice.ReceivePath + "?" + query, header: http.Header{}, body: []byte(made.Body),
		open: true,
	}
	for name, value := range made.Headers {
		r.header.Set(name, value)
	}
	maps.Copy(r.header, header)
	return c.receive(ctx, r)
}

// receive makes a call of a webhook.
func (c *Client) receive(ctx context.Context, r request) (Result, error) {
	answer, err := c.do(ctx, r)
	id := answer.Header.Get(sluice.CorrelationHeader)
	if err != nil && id == "" { // otherwise it was taken, and a pipeline refused it
		return Result{}, err
	}
	if result, err := resultOf(answer); err == nil && result.CorrelationID == id || id == "" {
		return result, err
	}
	return c.Result(ctx, id) // the webhook answers in another form
}
