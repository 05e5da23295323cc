package client

import (
	"context"
	"io"
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
	if body == nil {
		return c.do(ctx, plainCommand(name, params))
	}
	r := request{method: http.MethodPost, path: sluice.CommandPath + url.PathEscape(name), header: http.Header{}}
	if len(params) > 0 {
		r.path += "?" + params.Encode()
	}
	r.body = body.Content
	if body.ContentType != "" {
		r.header.Set("Content-Type", body.ContentType)
	}
	return c.do(ctx, r)
}

// plainCommand returns the request for a command with parameters only.
func plainCommand(name string, params url.Values) request {
	return request{
		method: http.MethodPost, path: sluice.CommandPath + url.PathEscape(name), body: []byte(params.Encode()),
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}

// Download calls a command that answers with bytes, and leaves them to be read.
func (c *Client) Download(ctx context.Context, name string, params url.Values) (io.ReadCloser, error) {
	response, err := c.open(ctx, plainCommand(name, params))
	if err != nil {
		return nil, err
	}
	if isSuccess(response.StatusCode) {
		return response.Body, nil
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return nil, refusal(Answer{response.StatusCode, response.Header, content})
}
