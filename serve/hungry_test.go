package serve_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestHungryEventsAllEnd: events whose runs want most of the memory of all runs, and get it piece by piece,
// all end, in a step and in where; what is done once is done once; and others go on meanwhile.
func TestHungryEventsAllEnd(t *testing.T) {
	t.Parallel()
	const events = 40
	out := newOutside(t)
	var paid atomic.Int64
	out.answer = func(http.ResponseWriter, *http.Request) { paid.Add(1) }
	s := start(t, "max-run-memory=32MiB", "result-wait=1ms", "http-allow=127.0.0.0/8") // half of it is for values
	hungry := s.create("webhook.hungry", "payloadType", "raw")
	other := s.create("webhook.other", "payloadType", "raw", "answerWait", "30s")
	const large = "len(map(1..5000, body.payload.a + string(#)))"
	s.store("set", listening("webhook.hungry",
		"http.request: {url: '"+out.url+"', expect: 2xx, once: true, output: vars.paid}", "set: {value: '#{"+large+"}'}"))
	s.store("where", "pipeline:\n- event.listen: {eventKey: webhook.hungry, where: '#{"+large+" < 0}'}\n")
	s.store("other", listening("webhook.other", "set: {value: '#{len(map(1..500, body.payload.a + string(#)))}'}"))
	body := `{"a":"` + strings.Repeat("a", 3000) + `"}`
	var calls sync.WaitGroup
	for range events {
		calls.Go(func() { s.call(hungry, "application/json", body).wantStatus(t, http.StatusOK) })
	}
	for range 5 {
		if got := s.call(other, "application/json", body).wantStatus(t, http.StatusOK); !strings.Contains(string(got.body), `"value":500`) {
			t.Errorf("another pipeline comes to %s", got.body)
		}
	}
	calls.Wait()
	eventually(t, "all to end", func() bool {
		waiting := 0.0
		for _, p := range s.command("server.stats", nil).wantStatus(t, http.StatusOK).object(t)["pipelines"].([]any) {
			waiting += p.(map[string]any)["waiting"].(float64)
		}
		return waiting == 0
	})
	if paid.Load() != events {
		t.Errorf("it was paid %d times", paid.Load())
	}
	if n := len(s.traces("pipeline", "set", "status", "ok")); n != events {
		t.Errorf("%d calls are ok", n)
	}
	if log := s.log.String(); strings.Count(log, "Runs find no memory") != 1 || strings.Contains(log, "delivered to its pipeline again") {
		t.Errorf("the log is %s", log)
	}
}
