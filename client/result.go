package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
)

// A Result is what a call has come to: the document as the server gave it, and
// what of it matters here.
type Result struct {
	Document json.RawMessage
	sluice.Result
}

// Result gives the result of a call as it is now.
func (c *Client) Result(ctx context.Context, id string) (Result, error) {
	answer, err := c.do(ctx, request{method: http.MethodGet, path: pollPath(id, "false"), open: true})
	if err != nil {
		return Result{}, err
	}
	return resultOf(answer)
}

// Await waits for the result of a call. The server does the waiting, and says
// when to ask again.
func (c *Client) Await(ctx context.Context, id string) (Result, error) {
	path := pollPath(id, "true")
	trouble := &patience{}
	for {
		answer, err := c.do(ctx, request{method: http.MethodGet, path: path, open: true})
		switch {
		case err != nil:
			if err = trouble.after(ctx, err); err != nil {
				return Result{}, err
			}
		case answer.Status == http.StatusFound:
			trouble.calm()
			if path, err = nextPoll(answer); err != nil {
				return Result{}, err
			}
		default:
			return resultOf(answer)
		}
	}
}

func pollPath(id, redirect string) string {
	return sluice.ResultPath + "?" + url.Values{sluice.CorrelationQuery: {id}, sluice.RedirectQuery: {redirect}}.Encode()
}

// nextPoll gives the path that a redirect leads to. Its host does not count: the
// server is where we have reached it.
func nextPoll(a Answer) (string, error) {
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !strings.HasSuffix(to.Path, sluice.ResultPath) {
		return "", sluice.Errorf(sluice.Internal, "redirect-malformed", "The server leads elsewhere than to the result; is there a sluice at this URL?")
	}
	return sluice.ResultPath + "?" + to.RawQuery, nil
}

func resultOf(a Answer) (Result, error) {
	r := Result{Document: a.Body}
	if err := json.Unmarshal(a.Body, &r.Result); err != nil {
		return r, sluice.Errorf(sluice.Internal, "result-malformed", "The server gave no result; is there a sluice at this URL?").Because(err)
	}
	return r, nil
}

// patience bears failures that pass: those that say when to try again, and a
// server that is restarting.
type patience struct {
	forever bool
	since   time.Time // of the failures in a row; zero: none
	count   int
}

const (
	longestTrouble = time.Minute
	longestPause   = 5 * time.Second
)

// calm notes that all is well.
func (p *patience) calm() { p.since, p.count = time.Time{}, 0 }

// after waits as long as makes sense after a failure, or returns it if waiting
// makes none.
func (p *patience) after(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Unavailable && e.Kind != sluice.Throttled {
		return err
	}
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	if !p.forever && e.Kind == sluice.Unavailable && now.Sub(p.since) > longestTrouble {
		return err
	}
	wait := e.RetryAfter
	if wait == 0 {
		wait = min(100*time.Millisecond<<min(p.count, 10), longestPause)
	}
	p.count++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
