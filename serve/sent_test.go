package serve_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// counted returns how often each webhook-id came, by path.
func (o *outside) counted() map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, call := range o.all() {
		if counts[call.path] == nil {
			counts[call.path] = map[string]int{}
		}
		counts[call.path][call.header.Get("Webhook-Id")]++
	}
	return counts
}

// TestWhatARunSendsHasAnIdentity: however often a run is attempted, what it sends is sent once:
// by each turn of a loop, and by a pipeline within. A replay sends it again, and targets know it.
func TestWhatARunSendsHasAnIdentity(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	tries := 0
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			if tries++; tries < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.command("secret.put", map[string]any{"name": "partner", "value": "s3cret"}).wantStatus(t, 200)
	hook := s.create("webhook.fanned", "payloadType", "raw")
	const runAs = "- iam.run.as: {username: admin}\n"
	s.store("fanned", "retry: {times: 5, backoff: 10ms}\npipeline:\n- event.listen: {eventKey: webhook.fanned}\n"+runAs+
		"- foreach:\n    in: [a, b]\n    as: each\n    do:\n"+
		"    - event.send: {eventKey: part.ready, payload: {attempt: '#{request.attempt}'}}\n"+
		"    - pipeline.run: {name: within}\n"+
		"- http.request: {url: '"+o.url+"/last', expect: 2xx}\n").wantStatus(t, 200)
	s.store("within", "pipeline:\n- event.send: {eventKey: part.ready}\n- message.send: {key: part.told}\n").wantStatus(t, 200)
	s.store("events", "pipeline:\n- event.listen: {eventKey: part.ready}\n"+runAs+
		"- http.forward: {url: '"+o.url+"/events', sign: partner}\n- event.send: {eventKey: part.deep}\n").wantStatus(t, 200)
	s.store("messages", "pipeline:\n- message.receive: {key: part.told}\n"+runAs+
		"- http.forward: {url: '"+o.url+"/messages', sign: partner}\n").wantStatus(t, 200)
	s.store("deep", "pipeline:\n- event.listen: {eventKey: part.deep}\n"+runAs+
		"- http.forward: {url: '"+o.url+"/deep', sign: partner}\n").wantStatus(t, 200)

	got := s.call(hook, "application/json", "{}").result(t)
	if got.Status != "ok" || tries != 3 {
		t.Fatalf("it came to %+v after %d attempts", got, tries)
	}
	want := map[string]int{"/events": 4, "/messages": 2, "/deep": 4}
	came := func(each int) bool {
		counts := o.counted()
		for path, ids := range want {
			if len(counts[path]) != ids {
				return false
			}
			for _, n := range counts[path] {
				if n != each {
					return false
				}
			}
		}
		return true
	}
	eventually(t, "each sent event once", func() bool { return came(1) })
	s.command("event.replay", map[string]any{"traceId": got.TraceID}).wantStatus(t, 200)
	eventually(t, "each sent event once more, under its first id", func() bool { return came(2) })
	all := map[string]bool{}
	for path := range want {
		for id := range o.counted()[path] {
			all[id] = true
		}
	}
	if len(all) != 10 {
		t.Errorf("10 events have the ids %q", slices.Collect(maps.Keys(all)))
	}
}
