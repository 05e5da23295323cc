package serve_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"sluice/serve"
)

// atOnce runs n functions at the same time and gives what they answered.
func atOnce(n int, run func(i int) answer) []answer {
	answers := make([]answer, n)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			answers[i] = run(i)
		})
	}
	close(begin)
	all.Wait()
	return answers
}

// TestConcurrentPuts: of many that want the same event key, one gets it.
func TestConcurrentPuts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create("webhook.before") // the password is checked now, once, which takes a while
	created := 0
	for _, got := range atOnce(100, func(int) answer { return s.command("webhook.put", map[string]any{"eventKey": "webhook.same"}) }) {
		switch got.status {
		case http.StatusOK:
			created++
		case http.StatusConflict:
			got.wantProblem(t, http.StatusConflict, "event-key-taken")
		default:
			t.Errorf("answered %d: %s", got.status, got.body)
		}
	}
	if created != 1 {
		t.Errorf("%d webhooks were created, want 1", created)
	}
	s.stop()
	s.resume()
	if got := keys(t, s.command("webhook.get", map[string]any{"search": "same"})); len(got) != 1 {
		t.Errorf("%d webhooks of that key are stored, want 1", len(got))
	}
}

// TestConcurrentRenames: two webhooks can't take the same event key either.
func TestConcurrentRenames(t *testing.T) {
	t.Parallel()
	s := start(t)
	hooks := make([]hook, 10)
	for i := range hooks {
		hooks[i] = s.create(fmt.Sprintf("webhook.rename.%d", i))
	}
	renamed := 0
	for _, got := range atOnce(len(hooks), func(i int) answer {
		return s.command("webhook.put", map[string]any{"uuid": hooks[i].UUID, "eventKey": "webhook.wanted"})
	}) {
		if got.status == http.StatusOK {
			renamed++
		} else {
			got.wantProblem(t, http.StatusConflict, "event-key-taken")
		}
	}
	if renamed != 1 {
		t.Errorf("%d webhooks have that key, want 1", renamed)
	}
}

// TestConcurrentEdits: edits of different fields all survive, whichever comes
// last.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.edits")
	for round := range 20 {
		want := hook{
			EventKey:         fmt.Sprintf("webhook.edits.%d", round),
			PayloadType:      []string{"raw", "ignore"}[round%2],
			MaxPayloadLength: 1000 + round,
		}
		edits := []map[string]any{
			{"uuid": h.UUID, "eventKey": want.EventKey},
			{"uuid": h.UUID, "payloadType": want.PayloadType},
			{"uuid": h.UUID, "maxPayloadLength": want.MaxPayloadLength},
		}
		for _, got := range atOnce(len(edits), func(i int) answer { return s.command("webhook.put", edits[i]) }) {
			got.wantStatus(t, http.StatusOK)
		}
		var got hook
		s.command("webhook.get", map[string]any{"uuid": h.UUID}).into(t, &got)
		if got.EventKey != want.EventKey || got.PayloadType != want.PayloadType || got.MaxPayloadLength != want.MaxPayloadLength {
			t.Fatalf("an edit was lost: %+v, want %+v", got, want)
		}
	}
}

// TestConcurrentCalls: every call that was answered 200 is stored once, with its
// own payload.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.many", "payloadType", "raw")
	answers := atOnce(200, func(i int) answer { return s.call(h, "text/plain", fmt.Sprintf("call %d", i)) })
	events := s.events()
	var traces []string
	for i, got := range answers {
		got.wantStatus(t, http.StatusOK)
		traces = append(traces, traceOf(got))
		if want := fmt.Sprintf(`"call %d"`, i); string(events[traceOf(got)].Payload) != want {
			t.Errorf("call %d has the payload %s", i, events[traceOf(got)].Payload)
		}
	}
	wantExactly(t, events, traces)
}

// TestEditsHoldUpNothing: events on their way to a pipeline whose concurrency is
// changed reach it, though the engine never gives up waiting to deliver them again.
func TestEditsHoldUpNothing(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{"as they come": "", "in order": "order: '#{body.traceId}'\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startFor(t, serve.Timeouts{Ack: never}, untilDone)
			hook := s.create("webhook.edited")
			edit := func(i int) {
				s.store("edited", fmt.Sprintf("concurrency: %d\n", 2+i%2)+section+listening("webhook.edited", "set: {value: 1}"))
			}
			edit(0)
			edited := make(chan struct{})
			var callers sync.WaitGroup
			for range 8 {
				callers.Go(func() {
					for {
						got := s.call(hook, "text/plain", "hi").result(t)
						if got.Status != "ok" {
							t.Errorf("a call came to %s, want ok", got.Status)
						}
						select {
						case <-edited:
							return
						default:
						}
					}
				})
			}
			for i := range 30 {
				edit(i)
			}
			close(edited)
			callers.Wait()
		})
	}
}
