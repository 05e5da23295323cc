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
	"slices"
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
	roles    []string        // that two have edited at once
	found    []string        // violations that operations have seen
	checks   int
	copies   int // restored
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
	refused   int      // calls that the server could not take
}

// A walkCall is one call of a webhook.
type walkCall struct {
	mark, kind, to string
	even           bool
	items          []string // marks of the events that it brings; none: it is one
	body           []byte
	at, answered   time.Time
	traceID        string
	correlationID  string
	erased         bool
	erasing        period // when it was asked for last
	forged         bool
}

// marks returns the marks of all its events.
func (c *walkCall) marks() []string {
	if len(c.items) > 0 {
		return c.items
	}
	return []string{c.mark}
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
	c := &walkCall{kind: kind, to: []string{"a", "b"}[w.random.IntN(2)], even: w.random.IntN(2) == 0}
	// Three times five bytes stand before the mark, so that its base64 can be found, too.
	c.mark, c.body = w.newBody(c)
	if kind == "batched" {
		list := [][]byte{bytes.TrimSpace(c.body)}
		for c.items = []string{c.mark}; w.random.IntN(3) > 0; {
			mark, body := w.newBody(c)
			c.items, list = append(c.items, mark), append(list, body)
		}
		c.body = slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]"))
	}
	c.forged = kind == "signed" && w.random.IntN(4) == 0
	return c
}

func (w *walk) newBody(c *walkCall) (mark string, body []byte) {
	w.serial++
	mark = fmt.Sprintf("%s%0*x", markBegins, markLength, w.seed<<20^w.serial)
	pad := bytes.Repeat([]byte("x"), w.random.IntN(2000))
	return mark, fmt.Appendf(nil, ` {"mark":"%s","to":"%s","even":%t,"card":{"number":"pan-%s"},"pad":"%s"}`,
		mark, c.to, c.even, mark[len(markBegins):], pad)
}

// make makes a call and books what became of it. Only a whole answer counts.
func (w *walk) make(ctx context.Context, c *walkCall) {
	hook := w.hooks[c.kind]
	c.at = time.Now()
	//nolint:bodyclose // it is read and closed
	answer, content, err := w.post(ctx, hook, c)
	w.mu.Lock()
	defer w.mu.Unlock()
	c.answered = time.Now()
	if err != nil {
		w.unknown = append(w.unknown, c)
		return
	}
	var result sluice.Result
	c.traceID = answer.Header.Get("Svc-Trace-Id")
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable:
		hook.refused++
	case c.forged && answer.StatusCode == http.StatusUnauthorized:
		w.rejected = append(w.rejected, c)
	case c.forged || answer.StatusCode != http.StatusOK:
		w.found = append(w.found, fmt.Sprintf("a call of %s was answered %s: %s", c.kind, answer.Status, content))
	case json.Unmarshal(content, &result) != nil || result.TraceID == "" || result.CorrelationID == "":
		w.found = append(w.found, fmt.Sprintf("a call of %s was answered with %s", c.kind, content))
	case len(c.items) > 0:
		w.noteSplit(c, result)
	case answer.Header.Get("Svc-Duplicate") != "":
		hook.duplicate++
		w.checkRepeated(c, result)
	default:
		c.traceID, c.correlationID = result.TraceID, result.CorrelationID
		w.calls = append(w.calls, c)
	}
}

// noteSplit books a call of several events, whose answer must say that all are new, or none.
func (w *walk) noteSplit(c *walkCall, result sluice.Result) {
	var split sluice.Split
	err := json.Unmarshal(result.Value, &split)
	at := slices.IndexFunc(w.calls, func(first *walkCall) bool { return first.mark == c.mark })
	isKnown := at >= 0
	takenTwice := isKnown && split.Events > 0 && !w.wasAway(w.calls[at]) && !w.wasAway(c) // see checkRepeated
	if err != nil || split.Events+split.Duplicates != len(c.items) || split.Events > 0 && split.Duplicates > 0 ||
		takenTwice {
		w.found = append(w.found, fmt.Sprintf("the call of %d events %s, known: %t, was answered with %s", len(c.items),
			c.mark, isKnown, result.Value))
	}
	if split.Events > 0 && !isKnown {
		c.traceID, c.correlationID = result.TraceID, result.CorrelationID
		w.calls = append(w.calls, c)
	}
}

// checkRepeated holds the answer to a repeated delivery against the first one. A first one
// whose answer got lost is known from now on.
func (w *walk) checkRepeated(c *walkCall, result sluice.Result) {
	for _, first := range w.calls {
		if first.mark == c.mark {
			// What several nodes have taken while the engine was away is one event with several ids.
			if w.wasAway(first) || w.wasAway(c) {
				return
			}
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
	token := hook.tokens[len(c.body)%len(hook.tokens)]
	at := w.client()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.url+receivePath, bytes.NewReader(c.body))
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
	answer, err := at.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	return answer, content, err
}
