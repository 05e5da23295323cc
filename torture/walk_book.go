package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"sluice"
)

// A book is the ledger of a walk: what was asked for, and what was answered.
type book struct {
	mu       sync.Mutex
	hooks    map[string]*walkHook // by kind
	calls    []*walkCall          // that were acknowledged, each delivery once
	unknown  []*walkCall          // that may have been stored: nobody got the answer
	rejected []*walkCall
	closed   []string        // tokens
	letters  map[string]bool // dead letters that were deleted
	found    []string        // violations that operations have seen
	checks   int
	serial   uint64
}

func newBook() *book {
	return &book{hooks: make(map[string]*walkHook), letters: make(map[string]bool)}
}

// A walkHook is a webhook of a walk.
type walkHook struct {
	kind      string
	eventKey  string
	uuid      string
	tokens    []string // that are open
	duplicate int      // calls that repeated a delivery
}

// A walkCall is one call of a webhook.
type walkCall struct {
	mark, kind, to string
	body           []byte
	at             time.Time
	status         int
	traceID        string
	correlationID  string
	erased         bool
	forged         bool
	replayed       bool
}

// blamef notes a violation.
func (b *book) blamef(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found = append(b.found, fmt.Sprintf(format, args...))
}

// walkSecret is what the signed webhook shares with its sender.
const walkSecret = "a secret between the walk and its server"

// newCall makes up a call of a kind.
func (w *walk) newCall(kind string) *walkCall {
	w.serial++
	mark := fmt.Sprintf("%s%0*x", markBegins, markLength, w.seed<<20^w.serial)
	c := &walkCall{mark: mark, kind: kind, to: []string{"a", "b"}[w.random.IntN(2)]}
	pad := bytes.Repeat([]byte("x"), w.random.IntN(2000))
	// Three times five bytes stand before the mark, so that its base64 can be found, too.
	c.body = fmt.Appendf(nil, ` {"mark":"%s","to":"%s","card":{"number":"pan-%s"},"pad":"%s"}`,
		mark, c.to, mark[len(markBegins):], pad)
	c.forged = kind == "signed" && w.random.IntN(4) == 0
	return c
}

// make makes a call and books what became of it. Only a whole answer counts.
func (w *walk) make(ctx context.Context, c *walkCall) {
	hook := w.hooks[c.kind]
	c.at = time.Now()
	//nolint:bodyclose // it is read and closed
	answer, content, err := w.post(ctx, hook, c)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.unknown = append(w.unknown, c)
		return
	}
	var result sluice.Result
	c.status = answer.StatusCode
	c.traceID = answer.Header.Get("Svc-Trace-Id")
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable:
	case c.forged && answer.StatusCode == http.StatusUnauthorized:
		w.rejected = append(w.rejected, c)
	case c.forged || answer.StatusCode != http.StatusOK:
		w.found = append(w.found, fmt.Sprintf("a call of %s was answered %s: %s", c.kind, answer.Status, content))
	case json.Unmarshal(content, &result) != nil || result.TraceID == "" || result.CorrelationID == "":
		w.found = append(w.found, fmt.Sprintf("a call of %s was answered with %s", c.kind, content))
	case answer.Header.Get("Svc-Duplicate") != "":
		hook.duplicate++
		w.checkRepeated(c, result)
	default:
		c.traceID, c.correlationID = result.TraceID, result.CorrelationID
		w.calls = append(w.calls, c)
	}
}

// checkRepeated holds the answer to a repeated delivery against the first one. A first one
// whose answer got lost is known from now on.
func (w *walk) checkRepeated(c *walkCall, result sluice.Result) {
	for _, first := range w.calls {
		if first.mark == c.mark {
			if first.correlationID != result.CorrelationID || first.traceID != result.TraceID {
				w.found = append(w.found, fmt.Sprintf("the delivery of %s has the ids %s and %s", c.mark,
					first.correlationID, result.CorrelationID))
			}
			return
		}
	}
	for i, first := range w.unknown {
		if first.mark == c.mark {
			w.unknown = append(w.unknown[:i:i], w.unknown[i+1:]...)
			first.traceID, first.correlationID = result.TraceID, result.CorrelationID
			w.calls = append(w.calls, first)
			return
		}
	}
	w.found = append(w.found, "a call that came for the first time is a duplicate: "+c.mark)
}

func (w *walk) post(ctx context.Context, hook *walkHook, c *walkCall) (*http.Response, []byte, error) {
	token := hook.tokens[int(c.body[len(c.body)-3])%len(hook.tokens)]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.client.url+receivePath, bytes.NewReader(c.body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", "application/json")
	if hook.kind == "deduped" {
		r.Header.Set("X-Id", "id of "+c.mark)
	}
	if hook.kind == "signed" {
		mac := hmac.New(sha256.New, []byte(walkSecret))
		mac.Write(c.body)
		if c.forged {
			mac.Write([]byte("."))
		}
		r.Header.Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))
	}
	answer, err := w.client.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	return answer, content, err
}

// A walkKind is a sort of webhook.
type walkKind struct {
	name     string
	put      map[string]any // parameters of webhook.put
	pipeline string         // "": none listens
	times    int            // retries
	forwards bool           // what was accepted must reach a recipient
}

// kindsOfWalk are the webhooks of a walk and the pipelines that listen to them. %a and %b stand
// for the two recipients.
var kindsOfWalk = []walkKind{
	{"forwarded", map[string]any{"payloadType": "raw"}, `
retry: {times: 3, backoff: 100ms, maxBackoff: 300ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.forwarded}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%a/forwarded', timeout: 2s, sign: walk}
`, 3, true},
	{"decoded", nil, `
pipeline:
  - event.listen: {eventKey: webhook.walk.decoded}
  - convert.fromBase64: {input: '#{body.payload.origin}'}
  - convert.fromJson
  - set: {value: '#{body.mark}'}
`, 0, false},
	{"deduped", map[string]any{"payloadType": "raw", "dedupe": "header:X-Id"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.deduped}
  - set: {value: '#{body.payload.mark}'}
`, 0, false},
	{"signed", map[string]any{
		"signature": map[string]any{"header": "X-Signature"}, "signingSecret": walkSecret,
	}, "", 0, false},
	{"redacted", map[string]any{"payloadType": "raw", "redact": []string{"payload.card.number"}}, `
retry: {times: 4, backoff: 200ms, maxBackoff: 400ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.redacted}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%b/redacted', timeout: 2s}
`, 4, true},
	{"kept", map[string]any{"payloadType": "raw", "keep": "30m"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.kept}
  - set: {value: '#{body.payload.mark}'}
`, 0, false},
	{"fanned", map[string]any{"payloadType": "raw"}, `
retry: {times: 2, backoff: 100ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.fanned}
  - iam.run.as: {username: admin}
  - event.send: {eventKey: walk.sent, payload: '#{body.payload}'}
  - event.send: {eventKey: walk.sent, payload: '#{body.payload}'}
`, 2, true},
	{"divided", map[string]any{"payloadType": "raw"}, `
retry: {times: 5, backoff: 20s}
pipeline:
  - event.listen: {eventKey: webhook.walk.divided}
  - iam.run.as: {username: admin}
  - http.request:
      url: '#{body.payload.to == "a" ? "%a/divided" : "%b/divided"}'
      method: POST
      body: '#{body.payload}'
      expect: 2xx
      timeout: 2s
  - set: {value: '#{body.body}'}
`, 5, true},
}

// sentPipeline forwards what the pipeline of the kind fanned sends.
const sentPipeline = `
retry: {times: 4, backoff: 100ms, maxBackoff: 300ms}
pipeline:
  - event.listen: {eventKey: walk.sent}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%a/sent', timeout: 2s, sign: walk}
`
