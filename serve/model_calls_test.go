package serve_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A storedPipeline is a pipeline as the model knows it.
type storedPipeline struct {
	pattern string
	fails   bool
	version int
}

// matches reports whether the pipeline listens to a key: # stands for any
// number of groups, * for one.
func (p *storedPipeline) matches(key string) bool {
	if prefix, open := strings.CutSuffix(p.pattern, ".#"); open {
		return key == prefix || strings.HasPrefix(key, prefix+".")
	}
	pattern, groups := strings.Split(p.pattern, "."), strings.Split(key, ".")
	if len(pattern) != len(groups) {
		return false
	}
	for i, group := range pattern {
		if group != "*" && group != groups[i] {
			return false
		}
	}
	return true
}

// outcome returns what the pipeline makes of an event, "" if it fails.
func (p *storedPipeline) outcome(key, encoding string) string {
	if p.fails {
		return ""
	}
	return fmt.Sprintf(`{"encoding":%q,"key":%q,"version":%d}`, encoding, key, p.version)
}

func (p *storedPipeline) source() string {
	last := fmt.Sprintf(`  - set: {value: {version: %d, key: "#{body.eventKey}", encoding: "#{body.payloadEncoding}"}}`, p.version)
	if p.fails {
		last = "  - fail: {message: as asked, statusCode: 422}"
	}
	return fmt.Sprintf("pipeline:\n  - event.listen: {eventKey: %q}\n%s\n", p.pattern, last)
}

// A modelCall is an accepted call. What its listeners may make of it is known
// for those that listened when it was accepted, and no others.
type modelCall struct {
	id        string
	key       string
	encoding  string
	accepted  time.Time           // not after this
	listeners map[string][]string // by name: the values it may have; "" is a failure
	result    string              // once it was ready
}

// receive makes a call that is accepted. It waits for the result, or not.
func (m *model) receive() {
	m.t.Helper()
	h := m.anyHook()
	if h == nil {
		return
	}
	c := &modelCall{key: h.EventKey, accepted: time.Now(), listeners: make(map[string][]string)}
	c.encoding = map[string]string{"raw": "text", "base64": "base64", "ignore": "none"}[h.PayloadType]
	for name, p := range m.stored {
		if p.matches(c.key) {
			c.listeners[name] = []string{p.outcome(c.key, c.encoding)}
		}
	}
	body := strings.Repeat("x", m.random.IntN(h.MaxPayloadLength+1))
	leave := m.random.IntN(3) == 0
	m.notef("call %s with %d bytes, %d listeners, leave: %v", c.key, len(body), len(c.listeners), leave)
	if leave {
		a := m.send("POST", receivePath+"?pollingRedirectEnabled=true", strings.NewReader(body), header("Token", h.UUID), header("Content-Type", "text/plain")).wantStatus(m.t, http.StatusFound)
		c.id = a.header.Get("svc-result-correlationid")
	} else {
		a := m.call(*h, "text/plain", body).wantStatus(m.t, http.StatusOK)
		c.id = a.header.Get("svc-result-correlationid")
		if a.object(m.t)["status"] == "processing" {
			m.pollCall(c)
		} else {
			c.settle(m, a)
		}
	}
	m.calls = append(m.calls, c)
}

// pollAny polls for one of the calls, mostly a late one.
func (m *model) pollAny() {
	m.t.Helper()
	if len(m.calls) > 0 {
		back := min(m.random.IntN(len(m.calls)), m.random.IntN(len(m.calls)))
		m.pollCall(m.calls[len(m.calls)-1-back])
	}
}

// pollCall polls for a result. It has to be there until its time is over, and
// may be gone from then on.
func (m *model) pollCall(c *modelCall) {
	m.t.Helper()
	m.notef("poll for a call of %s", c.key)
	eventually(m.t, "a result", func() bool {
		a := m.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+c.id, nil)
		switch a.status {
		case http.StatusFound:
			return false // held in vain
		case http.StatusGone, http.StatusTooManyRequests:
			if time.Since(c.accepted) < modelTTL {
				m.t.Errorf("a result of %s is gone after %s", c.key, time.Since(c.accepted))
			}
			return true
		}
		a.wantStatus(m.t, http.StatusOK)
		c.settle(m, a)
		return true
	})
}

// letExpire waits until the newest result that was seen is gone.
func (m *model) letExpire() {
	m.t.Helper()
	for _, c := range slices.Backward(m.calls) {
		if c.result != "" {
			m.notef("let the result of a call of %s expire", c.key)
			eventually(m.t, "a result to expire", func() bool {
				a := m.poll(c.id)
				return a.status == http.StatusGone || a.status == http.StatusTooManyRequests
			})
			return
		}
	}
}

// settle checks a result that is ready.
func (c *modelCall) settle(m *model, a answer) {
	m.t.Helper()
	var r struct {
		Status     string
		StatusCode int
		Value      json.RawMessage
		Error      json.RawMessage
	}
	a.into(m.t, &r)
	seen := fmt.Sprint(r.Status, r.StatusCode, string(r.Value), string(r.Error))
	if c.result != "" && c.result != seen {
		m.t.Errorf("a result of %s was %s and is %s", c.key, c.result, seen)
	}
	c.result = seen
	failed, wrong := c.judge(r.Value)
	if wrong || failed != (r.Status == "error") || failed == (r.Status == "ok") || failed != (r.Error != nil) {
		m.t.Errorf("a call of %s with the listeners %v came to %s", c.key, c.listeners, a.body)
	}
}

// judge reports whether a value says that a listener failed, and whether it
// can't be the value of this call.
func (c *modelCall) judge(value json.RawMessage) (failed, wrong bool) {
	if len(c.listeners) == 0 {
		return false, !strings.Contains(string(value), `"traceId"`)
	}
	values := make(map[string]json.RawMessage)
	if len(c.listeners) > 1 {
		if json.Unmarshal(value, &values) != nil || len(values) != len(c.listeners) {
			return false, true
		}
	}
	for name, allowed := range c.listeners {
		if len(c.listeners) == 1 {
			values[name] = value
		}
		text := strings.TrimPrefix(string(values[name]), "null")
		failed = failed || text == ""
		wrong = wrong || !slices.Contains(allowed, text)
	}
	return failed, wrong
}

func (m *model) putPipeline() {
	m.t.Helper()
	m.version++
	p := &storedPipeline{pattern: one(m, "webhook.a", "webhook.*", "webhook.b.#", "*.d"), fails: m.random.IntN(4) == 0, version: m.version}
	name := one(m, "one", "two", "three")
	before := m.stored[name]
	m.notef("put pipeline %s, version %d, on %s, fails: %v", name, p.version, p.pattern, p.fails)
	m.send("PUT", "/api/v3/pipeline/"+name, strings.NewReader(p.source()), asAdmin).wantStatus(m.t, http.StatusOK)
	m.stored[name] = p
	if before != nil && before.pattern == p.pattern {
		m.allow(name, func(c *modelCall) string { return p.outcome(c.key, c.encoding) })
	} else {
		m.allow(name, func(*modelCall) string { return "" })
	}
}

func (m *model) deletePipeline() {
	m.t.Helper()
	name := one(m, "one", "two", "three")
	m.notef("delete pipeline %s", name)
	a := m.send("DELETE", "/api/v3/pipeline/"+name, nil, asAdmin)
	if m.stored[name] == nil {
		a.wantStatus(m.t, http.StatusNotFound)
		return
	}
	a.wantStatus(m.t, http.StatusOK)
	delete(m.stored, name)
	m.allow(name, func(*modelCall) string { return "" })
}

// allow lets calls that nobody has seen ready come to something else, too: their
// pipeline may not have run for them yet.
func (m *model) allow(name string, outcome func(*modelCall) string) {
	for _, c := range m.calls {
		if allowed, listens := c.listeners[name]; listens && c.result == "" {
			c.listeners[name] = append(allowed, outcome(c))
		}
	}
}

// putBadPipeline is refused, and changes nothing.
func (m *model) putBadPipeline() {
	m.t.Helper()
	name := one(m, "one", "two", "three")
	m.notef("put pipeline %s with a mistake", name)
	source := one(m, "pipeline: [", "pipeline: []", "pipeline: [no.such.command]", "pipeline: [set: {value: 1}, event.listen: {eventKey: webhook.a}]")
	m.send("PUT", "/api/v3/pipeline/"+name, strings.NewReader(source), asAdmin).wantStatus(m.t, http.StatusBadRequest)
}

func (m *model) comparePipelines() {
	m.t.Helper()
	m.notef("compare pipelines")
	var found []struct{ Name string }
	m.command("pipeline.get", nil).wantStatus(m.t, http.StatusOK).into(m.t, &found)
	names := make([]string, 0, len(found))
	for _, p := range found {
		names = append(names, p.Name)
	}
	if want := slices.Sorted(maps.Keys(m.stored)); !slices.Equal(names, want) {
		m.t.Errorf("the pipelines are %v, want %v", names, want)
	}
	for _, name := range names {
		a := m.send("GET", "/api/v3/pipeline/"+name, nil, asAdmin).wantStatus(m.t, http.StatusOK)
		if string(a.body) != m.stored[name].source() {
			m.t.Errorf("the source of %s is %q", name, a.body)
		}
	}
}
