package client

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// maxSourceInQuery bounds a source that is sent in the query, besides a body.
const maxSourceInQuery = 16 << 10

// PutPipeline stores a pipeline. With force it is stored although steps would be
// refused when it runs.
func (c *Client) PutPipeline(ctx context.Context, name, source string, force bool) (Answer, error) {
	path := sluice.PipelinePath + "/" + url.PathEscape(name)
	if force {
		path += "?force=true"
	}
	return c.do(ctx, request{method: http.MethodPut, path: path, body: []byte(source)})
}

// Lint lets the server check the source of a pipeline: it knows its own commands,
// and who may do what. The name is that of the stored pipeline that it belongs to,
// if there is one.
func (c *Client) Lint(ctx context.Context, name, source string) (found sluice.LintResult, err error) {
	params := url.Values{}
	if name != "" {
		params.Set("name", name)
	}
	return found, c.Decode(ctx, "pipeline.lint", params, sourceBody(source), &found)
}

// SourceOf returns the content of a file as a source. Nothing becomes a comment:
// without a body the server would miss the source, and not find it empty.
func SourceOf(content string) string {
	if strings.TrimSpace(content) == "" {
		return "#"
	}
	return content
}

func sourceBody(source string) *Body { return &Body{Content: []byte(SourceOf(source))} }

// PipelineSource returns the source of a stored pipeline, and its tag for a change
// that must replace no other source. Version 0 is the current one.
func (c *Client) PipelineSource(ctx context.Context, name string, version int) (source, tag string, err error) {
	path := sluice.PipelinePath + "/" + url.PathEscape(name)
	if version != 0 {
		path += "?version=" + strconv.Itoa(version)
	}
	answer, err := c.do(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return "", "", err
	}
	return string(answer.Body), answer.Header.Get("ETag"), nil
}

// PipelineVersions returns the kept versions of a pipeline, newest first. There is at
// least the current one.
func (c *Client) PipelineVersions(ctx context.Context, name string) (versions []sluice.VersionView, err error) {
	return versions, c.Decode(ctx, "pipeline.versions", url.Values{"name": {name}}, nil, &versions)
}

// Try tries a draft on past events.
func (c *Client) Try(ctx context.Context, source string, params url.Values) (found sluice.TryResult, err error) {
	return found, c.Decode(ctx, "pipeline.try", params, sourceBody(source), &found)
}

// RunPipeline runs a stored pipeline and returns its final body.
func (c *Client) RunPipeline(ctx context.Context, name string, vars url.Values, body *Body) (Answer, error) {
	return c.post(ctx, sluice.PipelinePath+"/"+url.PathEscape(name), vars, body)
}

// RunSource runs a pipeline that is not stored and returns its final body.
func (c *Client) RunSource(ctx context.Context, source string, vars url.Values, body *Body) (Answer, error) {
	if body == nil {
		return c.post(ctx, sluice.PipelinePath, vars, sourceBody(source))
	}
	if len(source) > maxSourceInQuery {
		return Answer{}, sluice.Errorf(sluice.CodeSourceTooLong, "A pipeline that is not stored can be at most %d bytes long where the run has a body; store it with sluice pipeline put first.", maxSourceInQuery)
	}
	named := make(map[string]string, len(vars))
	for name := range vars {
		named[name] = vars.Get(name)
	}
	text, err := value.Marshal(named)
	if err != nil {
		return Answer{}, err
	}
	return c.Command(ctx, "pipeline.run", url.Values{"source": {SourceOf(source)}, "vars": {string(text)}}, body)
}

// A Webhook is what callers must know of a webhook.
type Webhook struct {
	Token          string `json:"-"`
	SigningSecrets int    `json:"signingSecrets"` // 0: its calls need no signature, or only their sender can sign
}

// Webhook returns the webhook with an event key.
func (c *Client) Webhook(ctx context.Context, eventKey string) (Webhook, error) {
	var hook Webhook
	var shown sluice.WebhookView
	answer, err := c.Command(ctx, "webhook.get", url.Values{"eventKey": {eventKey}}, nil)
	if err != nil {
		return hook, err
	}
	if err := errors.Join(json.Unmarshal(answer.Body, &hook), json.Unmarshal(answer.Body, &shown)); err != nil {
		return hook, sluice.Errorf(sluice.CodeWebhookMalformed, "The server gave no webhook.").Because(err)
	}
	hook.Token = shown.OpenToken()
	if strings.HasPrefix(hook.Token, "…") {
		return hook, sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return hook, nil
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
	answer, err := c.Command(ctx, "webhook.sign", params, payload)
	if err != nil {
		return made, err
	}
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		return made, sluice.Errorf(sluice.CodeCallMalformed, "The server made no call.").Because(err)
	}
	return made, nil
}

// CallSigned sends a signed call. The given headers replace those of the sender.
func (c *Client) CallSigned(ctx context.Context, made sluice.SignedCall, header http.Header) (Result, error) {
	_, query, _ := strings.Cut(made.URL, "?") // it has the token; the host may be wrong from here
	r := request{method: http.MethodPost, path: sluice.ReceivePath + "?" + query, header: http.Header{}, body: []byte(made.Body), open: true}
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

// A Result is the result of a call: the server's document, and what it says.
type Result struct {
	Document json.RawMessage
	sluice.Result
}

// Result returns the result of a call as it is now.
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
	retry := &retries{}
	for {
		answer, err := c.do(ctx, request{method: http.MethodGet, path: path, open: true, polls: true})
		switch {
		case err != nil:
			if err = retry.wait(ctx, err); err != nil {
				return Result{}, err
			}
		case answer.Status == http.StatusFound:
			retry.succeeded()
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

// nextPoll returns the path that a redirect leads to. Its host is ignored, since it
// may be wrong from here.
func nextPoll(a Answer) (string, error) {
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !strings.HasSuffix(to.Path, sluice.ResultPath) {
		return "", sluice.Errorf(sluice.CodeRedirectMalformed, "The server leads elsewhere than to the result; is there a sluice at this URL?")
	}
	return sluice.ResultPath + "?" + to.RawQuery, nil
}

func resultOf(a Answer) (Result, error) {
	r := Result{Document: a.Body}
	if err := json.Unmarshal(a.Body, &r.Result); err != nil {
		return r, sluice.Errorf(sluice.CodeResultMalformed, "The server gave no result; is there a sluice at this URL?").Because(err)
	}
	return r, nil
}

// retries waits after failures that pass: those that say when to try again, and
// those of a server that is restarting.
type retries struct {
	forever bool
	since   time.Time // of the first failure in a row; zero means none
	count   int
}

const (
	longestTrouble = time.Minute
	longestPause   = 5 * time.Second
)

// succeeded ends a row of failures.
func (r *retries) succeeded() { r.since, r.count = time.Time{}, 0 }

// wait waits after a failure, or returns it if trying again makes no sense.
func (r *retries) wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Unavailable && e.Kind != sluice.Throttled {
		return err
	}
	now := time.Now()
	if r.since.IsZero() {
		r.since = now
	}
	if !r.forever && e.Kind == sluice.Unavailable && now.Sub(r.since) > longestTrouble {
		return err
	}
	wait := e.RetryAfter
	if wait == 0 {
		wait = min(100*time.Millisecond<<min(r.count, 10), longestPause)
	}
	r.count++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
