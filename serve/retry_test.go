package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A target is a system that is down for a while. It counts what it has taken.
type target struct {
	mu    sync.Mutex
	down  bool
	taken map[string]int // by body
	tried int
	times []time.Time // of what it took
}

func (o *target) comeBack() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = false
}

func (o *target) has() (taken, tried int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.taken), o.tried
}

// failsFor makes a system that answers 503 to some bodies, at least while it is
// down.
func (o *target) failsFor(out *outside, bad func(body string) bool) {
	o.taken = make(map[string]int)
	out.answer = func(w http.ResponseWriter, r *http.Request) {
		body := r.Header.Get("X-Body")
		o.mu.Lock()
		defer o.mu.Unlock()
		o.tried++
		if o.down && bad(body) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		o.taken[body]++
		o.times = append(o.times, time.Now())
	}
}

// forwarding is a pipeline that calls a system with the text of an event.
func forwarding(key string, out *outside) string {
	return listening(key, "http.forward: {url: '"+out.url+"', headers: {x-body: '#{body.payload}'}}")
}

// TestFailingEventsDelayNone: 16 events that fail and wait an hour for their next
// attempt don't keep the next one waiting, though 16 may run at a time.
func TestFailingEventsDelayNone(t *testing.T) {
	t.Parallel()
	out, system := newOutside(t), &target{down: true}
	system.failsFor(out, func(body string) bool { return strings.HasPrefix(body, "bad") })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.none", "payloadType", "raw")
	s.store("none", "retry: {times: 5, backoff: 1h}\n"+forwarding("webhook.none", out))
	var ids []string
	for i := range 16 {
		call := s.call(hook, "text/plain", fmt.Sprint("bad", i), func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" })
		ids = append(ids, call.wantStatus(t, 302).header.Get("svc-result-correlationid"))
	}
	eventually(t, "the first attempts", func() bool { _, tried := system.has(); return tried >= 16 })
	if got := s.call(hook, "text/plain", "good").result(t); got.Status != "ok" {
		t.Errorf("the next event came to %+v", got)
	}
	for _, id := range ids[:3] {
		if got := s.look(id).result(t); got.Status != "processing" {
			t.Errorf("an event that waits came to %+v", got)
		}
	}
}

// look asks for a result as it is.
func (s *service) look(id string) answer {
	return s.send("GET", resultPath+"?pollingRedirectEnabled=false&svc-result-correlationid="+id, nil)
}

// TestATargetThatComesBack: what failed while it was down arrives, all of it, once,
// no faster than the pipeline's rate; also if the server restarts meanwhile.
func TestATargetThatComesBack(t *testing.T) {
	t.Parallel()
	const events, perSecond = 60, 40
	out, system := newOutside(t), &target{down: true}
	system.failsFor(out, func(string) bool { return true })
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.back", "payloadType", "raw")
	s.store("back", fmt.Sprintf("retry: {times: 100, backoff: 100ms, maxBackoff: 400ms}\nrate: %d/s\n", perSecond)+forwarding("webhook.back", out))
	for i := range events {
		s.call(hook, "text/plain", fmt.Sprint(i)).wantStatus(t, 200)
	}
	eventually(t, "every event to have failed", func() bool { _, tried := system.has(); return tried >= 2*events })
	s.stop()
	s.resume()
	system.comeBack()
	eventually(t, "everything to arrive", func() bool { taken, _ := system.has(); return taken == events })
	eventually(t, "nothing to wait", func() bool {
		stats := s.command("server.stats", nil).wantStatus(t, 200).object(t)["pipelines"].([]any)
		return len(stats) == 1 && stats[0].(map[string]any)["waiting"] == 0.0
	})
	system.mu.Lock()
	defer system.mu.Unlock()
	for body, count := range system.taken {
		if count != 1 {
			t.Errorf("%s arrived %d times", body, count)
		}
	}
	// A burst of a second's worth is allowed.
	if took, least := system.times[len(system.times)-1].Sub(system.times[0]), time.Second*(events-perSecond)/perSecond*8/10; took < least {
		t.Errorf("everything arrived within %s, want %s at least", took, least)
	}
	if letters := s.letters(t, "back", 0); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
}

// TestAttemptsAcrossARestart: the server goes on counting where it was.
func TestAttemptsAcrossARestart(t *testing.T) {
	t.Parallel()
	out, system := newOutside(t), &target{down: true}
	system.failsFor(out, func(string) bool { return true })
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.count", "payloadType", "raw")
	s.store("count", "retry: {times: 4, backoff: 200ms, maxBackoff: 300ms}\n"+forwarding("webhook.count", out))
	call := s.call(hook, "text/plain", "x").result(t)
	for attempts := 1; attempts <= 2; attempts++ {
		eventually(t, "an attempt", func() bool { _, tried := system.has(); return tried >= attempts })
		s.stop()
		s.resume()
	}
	if got := s.await(t, call.CorrelationID); got.Status != "error" {
		t.Errorf("it came to %+v", got)
	}
	var page struct{ Items []map[string]any }
	eventually(t, "the dead letter", func() bool { // it is stored behind the result
		s.command("deadletter.get", map[string]any{"pipeline": "count"}).wantStatus(t, http.StatusOK).into(t, &page)
		return len(page.Items) == 1
	})
	letter := page.Items[0]
	if _, tried := system.has(); letter["attempts"] != 5.0 || tried < 5 || tried > 7 { // a stop may cut off an attempt
		t.Errorf("the letter tells of %v attempts, the system of %d", letter["attempts"], tried)
	}
}

// TestRetryAfterOfTargets: whatever a system says, the next attempt comes, and not
// at once.
func TestRetryAfterOfTargets(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	var given atomic.Value
	var tries atomic.Int32
	out.answer = func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) > 1 {
			return
		}
		w.Header().Set("Retry-After", given.Load().(string))
		w.WriteHeader(http.StatusTooManyRequests)
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.after", "payloadType", "raw")
	s.store("after", "retry: {times: 1, backoff: 50ms, maxBackoff: 1s}\n"+forwarding("webhook.after", out))
	for _, value := range []string{"0", "-1", "315360000", "99999999999999999999", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1"} {
		given.Store(value)
		tries.Store(0)
		began := time.Now()
		if got := s.call(hook, "text/plain", "x").result(t); got.Status != "ok" || time.Since(began) < 50*time.Millisecond {
			t.Errorf("Retry-After: %s came to %+v after %s", value, got, time.Since(began))
		}
	}
}

// TestPausedPipelines: events wait for a pipeline that is paused, across a restart
// and a new source, and run when it is resumed.
func TestPausedPipelines(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	hook := s.create("webhook.paused")
	source := "pipeline: [event.listen: {eventKey: webhook.paused}, set: {value: 1}]"
	s.store("paused", source)
	s.command("pipeline.pause", map[string]any{"name": "paused"}).wantStatus(t, 200)
	call := s.call(hook, "text/plain", "").result(t)
	s.stop()
	s.resume()
	got := s.store("paused", strings.Replace(source, "value: 1", "value: 2", 1)).object(t)
	if got["paused"] != true {
		t.Errorf("stored anew it is %v", got)
	}
	if got := s.look(call.CorrelationID).result(t); got.Status != "processing" {
		t.Errorf("while it is paused a call comes to %+v", got)
	}
	s.command("pipeline.resume", map[string]any{"name": "paused"}).wantStatus(t, 200)
	if got := s.await(t, call.CorrelationID); got.Value != 2.0 {
		t.Errorf("it came to %+v", got)
	}
	s.store("deaf", "pipeline: [set: {value: 1}]")
	s.command("pipeline.pause", map[string]any{"name": "deaf"}).wantProblem(t, 409, "pipeline-not-listening")
	s.command("pipeline.pause", map[string]any{"name": "none"}).wantProblem(t, 404, "pipeline-unknown")
}

// TestRecoveryInBulk: dead letters are counted by what went wrong, and replayed by
// that.
func TestRecoveryInBulk(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.bulk", "payloadType", "raw")
	source := "pipeline:\n- event.listen: {eventKey: webhook.bulk}\n- if: {true: '#{body.payload == \"a\"}', then: [fail: {message: x}], else: [assert: {true: false}]}"
	s.store("bulk", source)
	for _, body := range []string{"a", "b", "a", "a"} {
		s.call(hook, "text/plain", body).wantStatus(t, 200)
	}
	var found struct {
		Items []struct {
			Pipeline, Code string
			Count          int
			First, Last    time.Time
		}
	}
	s.command("deadletter.groups", map[string]any{"since": "1h"}).wantStatus(t, 200).into(t, &found)
	if g := found.Items; len(g) != 2 || g[0].Pipeline != "bulk" || g[0].Code != "failed" || g[0].Count != 3 || g[1].Code != "assertion-failed" || g[1].Count != 1 || g[0].Last.Before(g[0].First) {
		t.Errorf("the groups are %+v", found.Items)
	}
	for _, other := range []string{"other", "*", "../..", "a b"} {
		s.command("deadletter.groups", map[string]any{"pipeline": other}).wantStatus(t, 200).into(t, &found)
		if len(found.Items) != 0 {
			t.Errorf("the pipeline %q has %v", other, found.Items)
		}
	}
	s.command("deadletter.groups", map[string]any{"since": "soon"}).wantProblem(t, 400, "parameter-invalid")
	s.command("deadletter.replay", map[string]any{"code": "failed", "since": "1d", "from": "2030-01-01T00:00:00Z"}).wantProblem(t, 400, "parameter-invalid")
	s.command("deadletter.replay", map[string]any{"code": "failed", "rate": 0}).wantProblem(t, 400, "parameter-invalid")
	s.command("deadletter.replay", map[string]any{"code": "failed", "rate": 1_000_000}).wantProblem(t, 400, "parameter-invalid")
	s.command("event.replay", map[string]any{"status": "error"}).wantProblem(t, 400, "parameter-invalid")

	s.store("bulk", "pipeline: [event.listen: {eventKey: webhook.bulk}, set: {value: 1}]")
	done := s.command("deadletter.replay", map[string]any{"code": "failed", "since": "1d", "rate": 1000}).wantStatus(t, 200).object(t)
	if done["replayed"] != 3.0 || done["skipped"] != nil {
		t.Errorf("the replay answered %v", done)
	}
	s.letters(t, "bulk", 1)
	eventually(t, "the replays to have run", func() bool { return len(s.traces("status", "recovered")) == 3 })
	s.store("bulk", "pipeline: [event.listen: {eventKey: webhook.other}, set: {value: 1}]")
	done = s.command("deadletter.replay", map[string]any{"since": "1d"}).wantStatus(t, 200).object(t)
	if done["replayed"] != 0.0 || done["skipped"] != 1.0 {
		t.Errorf("the replay to a pipeline that does not listen answered %v", done)
	}
	eventually(t, "the journal", func() bool { return len(s.traces("status", "recovered")) == 3 && len(s.traces("status", "error")) == 1 })
	done = s.command("event.replay", map[string]any{"since": "1d", "status": "error", "code": "assertion-failed"}).wantStatus(t, 200).object(t)
	if done["replayed"] != 1.0 {
		t.Errorf("the replay of failed calls answered %v", done)
	}
	s.store("elsewhere", "pipeline: [event.listen: {eventKey: webhook.elsewhere}, fail: {message: x}]")
	s.call(s.create("webhook.elsewhere"), "text/plain", "a").wantStatus(t, 200)
	eventually(t, "the journal", func() bool { return len(s.traces("status", "error", "pipeline", "elsewhere")) == 1 })
	done = s.command("event.replay", map[string]any{"since": "1d", "status": "error", "pipeline": "elsewhere"}).wantStatus(t, 200).object(t)
	if done["replayed"] != 1.0 {
		t.Errorf("the replay of the failed calls of a pipeline answered %v", done)
	}
}

// TestGoodReplaysLeaveNoLetters: when what failed was replayed well, nothing is red any more.
func TestGoodReplaysLeaveNoLetters(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.red", "payloadType", "raw")
	s.store("red", listening("webhook.red", "fail: {message: no}"))
	var failed []string
	for range 2 {
		failed = append(failed, s.call(hook, "text/plain", "x").result(t).TraceID)
	}
	s.letters(t, "red", 2)
	s.command("event.replay", map[string]any{"traceId": failed[0]}).wantStatus(t, 200) // it fails again
	eventually(t, "another letter", func() bool { return s.letterCount(t, "red") == 3 })
	s.store("red", listening("webhook.red", "set: {value: well}"))
	s.command("event.replay", map[string]any{"traceId": failed[0]}).wantStatus(t, 200)
	eventually(t, "its letters to be gone", func() bool { return s.letterCount(t, "red") == 1 })
	if left := s.letters(t, "red", 1); left[0]["traceId"] != failed[1] {
		t.Errorf("%v is left", left)
	}
}

func (s *service) letterCount(t *testing.T, pipeline string) int {
	t.Helper()
	var page struct{ Items []map[string]any }
	s.command("deadletter.get", map[string]any{"pipeline": pipeline}).wantStatus(t, http.StatusOK).into(t, &page)
	return len(page.Items)
}

// TestOneTargetOfTwo: a target that is down among others that are up costs its events no
// attempt, however often the others are reached; when it is back, they follow.
func TestOneTargetOfTwo(t *testing.T) {
	t.Parallel()
	const events = 3
	up, down, system := newOutside(t), newOutside(t), &target{down: true}
	system.failsFor(down, func(string) bool { return true })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.two", "payloadType", "raw")
	s.store("two", "retry: {times: 5, backoff: 1h}\n"+listening("webhook.two",
		"if: {true: '#{body.payload startsWith \"down\"}', then: [http.forward: {url: '"+down.url+
			"', headers: {x-body: '#{body.payload}'}}], else: [http.forward: {url: '"+up.url+"'}]}"))
	for i := range events {
		s.call(hook, "text/plain", fmt.Sprint("down", i), func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" })
	}
	eventually(t, "every event to have failed", func() bool { return len(s.traces("status", "retrying")) == events })
	for range 20 {
		if got := s.call(hook, "text/plain", "up").result(t); got.Status != "ok" {
			t.Fatalf("a call of the other target came to %+v", got)
		}
	}
	if _, tried := system.has(); tried != events {
		t.Errorf("the target that is down was tried %d times", tried)
	}
	for _, call := range s.traces("status", "retrying") {
		if len(call.Runs) != 1 {
			t.Errorf("an event that waits had %d runs", len(call.Runs))
		}
	}
	system.comeBack()
	s.call(hook, "text/plain", "down again").result(t)
	eventually(t, "all to follow", func() bool { taken, _ := system.has(); return taken == events+1 })
	eventually(t, "the journal", func() bool { return len(s.traces("status", "ok")) == 21+events })
	if letters := s.letters(t, "two", 0); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
}

// TestOrder: of events with the same value one runs after the other; one that waits holds up
// its own value only. A mistake in the value is that of the event.
func TestOrder(t *testing.T) {
	t.Parallel()
	out, system := newOutside(t), &target{down: true}
	system.failsFor(out, func(body string) bool { return body == "a0" })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.order", "payloadType", "raw")
	s.store("order", "order: '#{body.payload == \"null\" ? nil : body.payload[0:1]}'\nretry: {times: 5, backoff: 1h}\n"+forwarding("webhook.order", out))
	later := func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" }
	s.call(hook, "text/plain", "a0", later).wantStatus(t, 302)
	eventually(t, "the first to wait", func() bool { return len(s.traces("status", "retrying")) == 1 })
	for _, body := range []string{"a1", "a2"} {
		s.call(hook, "text/plain", body, later).wantStatus(t, 302)
	}
	for _, body := range []string{"b0", "b1", "null", "null"} {
		if got := s.call(hook, "text/plain", body).result(t); got.Status != "ok" {
			t.Errorf("%s comes to %+v", body, got)
		}
	}
	if states := s.traces("status", "processing"); len(states) != 2 {
		t.Errorf("%d events wait for their turn", len(states))
	}
	system.comeBack()
	s.command("event.retry", map[string]any{"pipeline": "order"}).wantStatus(t, 200)
	eventually(t, "all to go on", func() bool { return len(s.traces("status", "ok")) == 7 })
}

// TestDebounce: of events with the same value that follow each other the last one runs. The
// others are done, say which one ran, and count as no runs. Replays run by themselves.
func TestDebounce(t *testing.T) {
	t.Parallel()
	out, system := newOutside(t), new(target)
	system.failsFor(out, func(string) bool { return false })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.burst", "payloadType", "raw")
	s.store("burst", "debounce: {by: '#{body.payload[0:1]}', wait: 1s, atMost: 1m}\n"+forwarding("webhook.burst", out))
	var last string
	for i := range 5 {
		call := s.call(hook, "text/plain", fmt.Sprint("a", i), func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" })
		last = call.wantStatus(t, 302).header.Get("svc-result-correlationid")
	}
	eventually(t, "all to be done", func() bool { return len(s.traces("status", "ok")) == 5 })
	if taken, _ := system.has(); taken != 1 || system.taken["a4"] != 1 {
		t.Errorf("the target took %v", system.taken)
	}
	ran := s.look(last).result(t)
	for _, call := range s.traces("status", "ok") {
		run := call.Runs[0]
		if call.CorrelationID != last && (len(call.Runs) != 1 || run.Status != "superseded" || run.By != ran.TraceID) {
			t.Errorf("a call before the last one has %+v", call.Runs)
		}
		if got := s.look(call.CorrelationID).result(t); call.CorrelationID != last && (got.Status != "ok" || got.Value != nil) {
			t.Errorf("a call before the last one comes to %+v", got)
		}
	}
	s.command("event.replay", map[string]any{"eventKey": "webhook.burst", "since": "1h"}).wantStatus(t, 200)
	eventually(t, "each replay to run by itself", func() bool {
		taken, tried := system.has()
		return taken == 5 && tried == 6
	})
}
