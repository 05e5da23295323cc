package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// A Result is the result of a call: the server's document, and what it says.
type Result struct {
	Document json.RawMessage
	sluice.Result
}

// Result returns the result of a call as it is now.
func (c *Client) Result(ctx context.Context, id string) (Result, error) {
	answer, err := c.do(ctx, request{path: pollPath(id, "false"), open: true})
	if err != nil {
		return Result{}, err
	}
	return resultOf(answer)
}

// Await waits for the result of a call. The server does the waiting, and says
// when to ask again. waits is called each time that the server has waited in vain.
func (c *Client) Await(ctx context.Context, id string, waits func(traceID string)) (Result, error) {
	path := pollPath(id, "true")
	retry := &retries{}
	for {
		answer, err := c.do(ctx, request{path: path, open: true, polls: true})
		switch {
		case err != nil:
			if err = retry.wait(ctx, err); err != nil {
				return Result{}, err
			}
		case answer.Status == http.StatusFound:
			retry.succeeded()
			waits(answer.Header.Get(sluice.TraceHeader))
			if path, err = nextPoll(answer); err != nil {
				return Result{}, err
			}
		default:
			return resultOf(answer)
		}
	}
}

func pollPath(id, redirect string) string {
	return sluice.ResultPath + "?" + url.Values{
		sluice.CorrelationQuery: {id}, sluice.RedirectQuery: {redirect},
	}.Encode()
}

// nextPoll returns the path that a redirect leads to. Its host is ignored, since it
// may be wrong from here.
func nextPoll(a Answer) (string, error) {
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !strings.HasSuffix(to.Path, sluice.ResultPath) {
		return "", sluice.CodeRedirectMalformed.Errorf(
			"The server leads elsewhere than to the result; is there a sluice at this URL?")
	}
	return sluice.ResultPath + "?" + to.RawQuery, nil
}

func resultOf(a Answer) (Result, error) {
	r := Result{Document: a.Body}
	err := a.decode(&r.Result, sluice.CodeResultMalformed, "The server gave no result; is there a sluice at this URL?")
	return r, err
}
