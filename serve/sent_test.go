package serve_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestSentForLater: an event that is sent for a later time is there at once, and handed on then, also
// by a server that was started meanwhile.
func TestSentForLater(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.store("later", listening("later.due", "http.request: {method: POST, url: '"+o.url+"/#{body.payload}'}"))
	due := time.Now().Add(2 * time.Second).UTC()
	sent := s.command("event.send", map[string]any{"eventKey": "later.due", "payload": "user", "at": due.Format(time.RFC3339Nano)}).
		wantStatus(t, 200).object(t)
	past := s.command("event.send", map[string]any{"eventKey": "later.due", "payload": "past", "at": "2020-01-01T00:00:00Z"}).wantStatus(t, 200).object(t)
	if at, _ := sent["due"].(string); !strings.HasPrefix(due.Format(time.RFC3339Nano), strings.TrimSuffix(at, "Z")[:20]) || past["due"] != nil {
		t.Errorf("it is due at %v, and %v", sent["due"], past["due"])
	}
	<-o.arrived
	s.stop()
	s.resume()
	if found := s.traces("status", "processing"); time.Now().Before(due) && len(found) != 1 {
		t.Errorf("%d events are in progress", len(found))
	}
	<-o.arrived
	if now := time.Now(); now.Before(due.Add(-100 * time.Millisecond)) {
		t.Errorf("all came %v early", due.Sub(now))
	}
	if all := o.all(); len(all) != 2 || all[0].path != "/past" {
		t.Errorf("these came: %v", all)
	}
}

// TestReplayOfWhatWaits: what waits for its time is not replayed, unless that is forced.
func TestReplayOfWhatWaits(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.store("later", listening("later.due", "set: {value: 1}"))
	send := func(params map[string]any) string {
		params["eventKey"] = "later.due"
		return s.command("event.send", params).wantStatus(t, 200).object(t)["traceId"].(string)
	}
	waits, done := send(map[string]any{"delay": "1h"}), send(map[string]any{})
	eventually(t, "one to be done", func() bool { return s.traces("traceId", done)[0].Status == "ok" })
	s.command("event.replay", map[string]any{"traceId": waits}).wantProblem(t, 409, "event-waits")
	for force, want := range map[bool]float64{false: 1, true: 2} {
		got := s.command("event.replay", map[string]any{"eventKey": "later.due", "since": "1h", "dryRun": true, "force": force}).wantStatus(t, 200).object(t)
		if got["selected"] != want {
			t.Errorf("force %t: of one that is done and one that waits, %v are replayed", force, got)
		}
	}
}

// TestSentForLaterToALostOrder: an event that was to find its place among others when it is due runs alone if the
// pipeline was stored without order, or without debounce, meanwhile.
func TestSentForLaterToALostOrder(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	for key, section := range map[string]string{"lost.order": "order: '#{body.payload}'", "lost.debounce": "debounce: {by: '#{body.payload}', wait: 10ms}"} {
		s.store(key, section+"\n"+listening(key, "set: {value: 1}"))
		s.command("event.send", map[string]any{"eventKey": key, "payload": "a", "delay": "1s"}).wantStatus(t, 200)
		eventually(t, "the event to wait", func() bool {
			return strings.Contains(string(s.command("pipeline.stats", map[string]any{"name": key}).body), `"waiting":1`)
		})
		s.store(key, listening(key, "set: {value: 1}"))
		eventually(t, "the event to run", func() bool { return s.traces("eventKey", key)[0].Status == "ok" })
	}
}

// TestSentOnce: what is sent again with its delivery id makes no second event.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.store("once", listening("once.sent", "set: {value: 1}"))
	send := func(command string, params map[string]any) answer { return s.command(command, params) }
	first := send("event.send", map[string]any{"eventKey": "once.sent", "deliveryId": "7", "payload": 1}).wantStatus(t, 200).object(t)
	again := send("event.send", map[string]any{"eventKey": "once.sent", "deliveryId": "7", "payload": 2}).wantStatus(t, 200).object(t)
	message := send("message.send", map[string]any{"key": "svc.event.once.sent", "deliveryId": "7"}).wantStatus(t, 200).object(t)
	for _, other := range []map[string]any{again, message} {
		if first["duplicate"] != nil || other["duplicate"] != true || other["correlationId"] != first["correlationId"] || other["traceId"] != first["traceId"] {
			t.Errorf("%v, and again %v", first, other)
		}
	}
	if other := send("event.send", map[string]any{"eventKey": "once.other", "deliveryId": "7"}).wantStatus(t, 200).object(t); other["duplicate"] != nil {
		t.Errorf("another key: %v", other)
	}
	for name, params := range map[string]map[string]any{
		"deliveryId": {"deliveryId": strings.Repeat("x", 201)},
		"delay":      {"delay": "999ms"},
		"at":         {"at": time.Now().Add(721 * time.Hour).Format(time.RFC3339)},
	} {
		params["eventKey"] = "once.sent"
		got := send("event.send", params).wantProblem(t, 400, "parameter-invalid")
		if got["parameter"] != name {
			t.Errorf("%s: %v", name, got)
		}
	}
	send("event.send", map[string]any{"eventKey": "once.sent", "delay": "721h"}).wantProblem(t, 400, "parameter-invalid")
	send("event.send", map[string]any{"eventKey": "once.sent", "delay": "1s", "at": "2030-01-01T00:00:00Z"}).wantProblem(t, 400, "parameter-invalid")
	if got := send("event.send", map[string]any{"eventKey": "once.sent", "at": ""}).wantProblem(t, 400, "parameter-invalid"); got["parameter"] != "at" {
		t.Errorf("an empty time: %v", got)
	}
	send("event.send", map[string]any{"eventKey": "at.null", "at": nil}).wantStatus(t, 200)
	eventually(t, "one event", func() bool {
		found := s.traces("eventKey", "once.sent")
		return len(found) == 1 && found[0].Status == "ok"
	})
	send("event.erase", map[string]any{"traceId": first["traceId"]}).wantStatus(t, 200)
	erased := send("event.send", map[string]any{"eventKey": "once.sent", "deliveryId": "7"}).wantStatus(t, 200).object(t)
	if erased["duplicate"] != true || erased["traceId"] != first["traceId"] || erased["correlationId"] != first["correlationId"] {
		t.Errorf("%v, and again when it is erased %v", first, erased)
	}
}

// TestSentOnceByRuns: an event that was sent before by another run, or by the event itself, is not what a run has sent.
// A call that sent nothing new is done with its own run, is erased alone, and nobody walks in a circle.
func TestSentOnceByRuns(t *testing.T) {
	t.Parallel()
	o, system := newOutside(t), &target{down: true}
	system.failsFor(o, func(string) bool { return true })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.store("polls", listening("webhook.polls", "event.send: {eventKey: webhook.polls, deliveryId: job, payload: 1}")).wantStatus(t, 200)
	s.store("tells", listening("webhook.tells", "event.send: {eventKey: told.once, deliveryId: '#{body.payload}', payload: 1}")).wantStatus(t, 200)
	s.store("told", "retry: {times: 3, backoff: 1h}\n"+listening("told.once", "http.request: {url: '"+o.url+"/', expect: 2xx}")).wantStatus(t, 200)
	polls := s.call(s.create("webhook.polls"), "text/plain", "x").result(t)
	hook := s.create("webhook.tells", "payloadType", "raw")
	first, second := s.call(hook, "text/plain", "x").result(t), s.call(hook, "text/plain", "x").result(t)
	becomes := func(traceID, status string) {
		t.Helper()
		eventually(t, "the call to be "+status, func() bool {
			found := s.traces("traceId", traceID)
			return len(found) > 0 && found[len(found)-1].Status == status
		})
	}
	becomes(polls.TraceID, "ok")
	becomes(first.TraceID, "retrying")
	becomes(second.TraceID, "ok")
	s.command("event.erase", map[string]any{"traceId": second.TraceID}).wantStatus(t, 200)
	s.command("event.erase", map[string]any{"traceId": polls.TraceID}).wantStatus(t, 200)
	system.comeBack()
	s.command("event.retry", map[string]any{"pipeline": "told"}).wantStatus(t, 200)
	becomes(first.TraceID, "ok")
	eventually(t, "all calls to be counted as done", func() bool {
		var all []struct{ Accepted, OK int }
		s.command("webhook.stats", map[string]any{"eventKey": "webhook.tells"}).wantStatus(t, 200).into(t, &all)
		return len(all) == 1 && all[0].Accepted == 2 && all[0].OK == 2
	})
}

// TestACallIsAsFarAsWhatItSetOff: a call whose own pipeline is done is not, while what that has sent
// fails; figures, searches and the trace agree at each point, also after a restart.
func TestACallIsAsFarAsWhatItSetOff(t *testing.T) {
	t.Parallel()
	const calls = 3
	o, system := newOutside(t), &target{down: true}
	system.failsFor(o, func(string) bool { return true })
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.set.off", "payloadType", "raw")
	s.store("order", listening("webhook.set.off", "event.send: {eventKey: order.ready, payload: '#{body.payload}'}"))
	forwarding := func(times string) string {
		return "retry: {times: " + times + ", backoff: 100ms, recover: false}\n" + listening("order.ready",
			"http.request: {method: POST, url: '"+o.url+"', expect: 2xx}", "event.send: {eventKey: order.done}")
	}
	s.store("warehouse", forwarding("100"))
	s.store("done", listening("order.done", "set: {value: 1}"))
	var ids []string
	for range calls {
		ids = append(ids, s.call(hook, "text/plain", "x").result(t).TraceID)
	}
	is := func(status string) func() bool {
		return func() bool {
			var webhooks []map[string]any
			s.command("webhook.stats", map[string]any{"eventKey": "webhook.set.off"}).wantStatus(t, 200).into(t, &webhooks)
			var server struct {
				Minutes []struct{ Calls, Events map[string]float64 }
			}
			s.command("server.stats", map[string]any{"minutes": 60}).wantStatus(t, 200).into(t, &server)
			counted, sent := 0.0, 0.0
			for _, minute := range server.Minutes {
				counted += minute.Calls[status]
				sent += minute.Events["accepted"]
			}
			found := s.traces("status", status, "eventKey", "webhook.set.off")
			if sent >= calls { // an alert may be one
				t.Fatalf("%v events that no call set off", sent)
			}
			return len(webhooks) == 1 && webhooks[0]["accepted"] == float64(calls) && webhooks[0][status] == float64(calls) &&
				counted == calls && len(found) == calls
		}
	}
	eventually(t, "calls that are being retried", is("retrying"))
	s.store("warehouse", forwarding("0"))
	s.command("event.retry", map[string]any{"pipeline": "warehouse"}).wantStatus(t, 200)
	eventually(t, "calls that have failed", is("error"))
	s.stop()
	s.resume()
	eventually(t, "the same after a restart", is("error"))
	system.comeBack()
	s.command("deadletter.replay", map[string]any{"pipeline": "warehouse"}).wantStatus(t, 200)
	eventually(t, "calls that have recovered", is("recovered"))
	keys := map[string]int{}
	for _, run := range s.traces("traceId", ids[0], "eventKey", "webhook.set.off")[0].Runs {
		keys[run.Pipeline+" "+run.EventKey]++
	}
	if keys["order "] != 1 || keys["warehouse order.ready"] < 2 {
		t.Errorf("the runs of the call are %v", keys)
	}
	ids = append(ids, s.call(hook, "text/plain", "x").result(t).TraceID)
	eventually(t, "a call that went well with all that it set off", func() bool {
		found := s.traces("traceId", ids[calls], "eventKey", "webhook.set.off")
		return len(found) == 1 && found[0].Status == "ok" && len(found[0].Runs) == 3
	})
}
