package client

import (
	"context"
	"net/http"
	"net/url"

	"sluice"
)

// A Body is what a call carries beside its parameters.
type Body struct {
	Content     []byte
	ContentType string // "" lets the server detect it
}

// Command calls a command with parameters as text. With a body they go in the
// query, otherwise in the body, which is not logged.
func (c *Client) Command(ctx context.Context, name string, params url.Values, body *Body) (Answer, error) {
	r := request{method: http.MethodPost, path: sluice.CommandPath + url.PathEscape(name), header: http.Header{}}
	if body == nil {
		r.body = []byte(params.Encode())
		r.header.Set("Content-Type", "application/x-www-form-urlencoded")
		return c.do(ctx, r)
	}
	if len(params) > 0 {
		r.path += "?" + params.Encode()
	}
	r.body = body.Content
	if body.ContentType != "" {
		r.header.Set("Content-Type", body.ContentType)
	}
	return c.do(ctx, r)
}
