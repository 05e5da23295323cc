package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"sluice"
)

// A Body is what a call carries besides its parameters.
type Body struct {
	Content     []byte
	ContentType string // "" lets the server detect it
}

// Command calls a command with parameters as text. With a body they go in the
// query, otherwise in the body, which is not logged.
func (c *Client) Command(ctx context.Context, name string, params url.Values, body *Body) (Answer, error) {
	if body == nil {
		return c.do(ctx, form(sluice.CommandPath+url.PathEscape(name), params))
	}
	return c.post(ctx, sluice.CommandPath+url.PathEscape(name), params, body)
}

// Decode does what Command does, and decodes the answer.
func (c *Client) Decode(ctx context.Context, name string, params url.Values, body *Body, into any) error {
	answer, err := c.Command(ctx, name, params, body)
	if err != nil {
		return err
	}
	return answer.decode(into, sluice.CodeAnswerMalformed, "The server's answer to %s can't be read.", name)
}

// Download calls a command that answers with bytes. The caller reads and closes them.
func (c *Client) Download(ctx context.Context, name string, params url.Values) (io.ReadCloser, error) {
	response, err := c.open(ctx, form(sluice.CommandPath+url.PathEscape(name), params))
	if err != nil {
		return nil, err
	}
	if isSuccess(response.StatusCode) {
		return response.Body, nil
	}
	return nil, c.refused(ctx, response)
}

// post sends a body, if there is one, with parameters in the query.
func (c *Client) post(ctx context.Context, path string, params url.Values, body *Body) (Answer, error) {
	r := request{method: http.MethodPost, path: path, header: http.Header{}}
	if len(params) > 0 {
		r.path += "?" + params.Encode()
	}
	r.carry(body)
	return c.do(ctx, r)
}

// carry gives a request a body, if there is one.
func (r *request) carry(body *Body) {
	if body == nil {
		return
	}
	r.body = body.Content
	if body.ContentType != "" {
		r.header.Set("Content-Type", body.ContentType)
	}
}

// form returns the request that sends a form.
func form(path string, values url.Values) request {
	return request{
		method: http.MethodPost, path: path, body: []byte(values.Encode()),
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}
