package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sluice/jetstream/natstest"

	"github.com/nats-io/nats-server/v2/server"
)

// engineOptions are those of a NATS server with JetStream.
func engineOptions(folder string) *server.Options {
	return &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: folder, MaxPayload: 8 << 20, NoSigs: true, NoLog: true}
}

// runEngine runs a NATS server until stop is called.
func runEngine(t *testing.T, options *server.Options) (nats *server.Server, stop func()) {
	t.Helper()
	nats, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	nats.Start()
	if !nats.ReadyForConnections(patience) {
		t.Fatal("the external engine did not start")
	}
	return nats, func() {
		nats.Shutdown()
		nats.WaitForShutdown()
	}
}

// TestTwoNodes: nodes that share an engine are one service. Each event is run by
// one of them, and its result is read from any.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	nats, stop := runEngine(t, engineOptions(t.TempDir()))
	t.Cleanup(stop)
	settings := []string{"nats=" + nats.ClientURL(), "secret-key=" + strings.Repeat("0f", 32), "http-allow=127.0.0.0/8"}
	one, two := start(t, settings...), start(t, settings...)
	var mu sync.Mutex
	runs := make(map[string]int)
	counter := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		runs[r.URL.Query().Get("id")]++
	}))
	defer counter.Close()
	one.command("secret.put", map[string]any{"name": "greeting", "value": "hello"}).wantStatus(t, 200)
	h := one.create("webhook.shared", "payloadType", "raw")
	one.send("PUT", "/api/v3/pipeline/shared", strings.NewReader(`
pipeline:
- event.listen: {eventKey: webhook.shared}
- set: {value: "#{[request.correlationId, len(secret('greeting')), body.payload]}"}
- iam.run.as: {username: admin}
- http.request: {url: "`+counter.URL+`/?id=#{body[0]}", output: vars.answer}
`), asAdmin).wantStatus(t, 200)
	eventually(t, "the other node knows the pipeline", func() bool {
		return two.send("GET", "/api/v3/pipeline/shared", nil, asAdmin).status == 200
	})
	const calls = 40
	ids := make([]string, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			got := []*service{one, two}[i%2].call(h, "text/plain", fmt.Sprint(i))
			if got.status != 200 {
				t.Errorf("answered %s", got)
			}
			ids[i] = got.header.Get("Svc-Result-Correlationid")
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, id := range ids {
		node := []*service{two, one}[i%2] // the one that was not called
		var got answer
		for got = node.held(ctx, id); got.status == http.StatusFound; got = node.held(ctx, id) {
		}
		if want := fmt.Sprintf(`["%s",5,"%d"]`, id, i); !strings.Contains(string(got.body), want) {
			t.Errorf("call %d has the result %s, want %s", i, got, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, id := range ids {
		if runs[id] != 1 {
			t.Errorf("call %s was run %d times", id, runs[id])
		}
	}
}

// TestNodesShareTokens: a token that one node adds counts on the other, and one that it deletes
// no longer does.
func TestNodesShareTokens(t *testing.T) {
	t.Parallel()
	nats, stop := runEngine(t, engineOptions(t.TempDir()))
	t.Cleanup(stop)
	settings := []string{"nats=" + nats.ClientURL(), "secret-key=" + strings.Repeat("0f", 32)}
	one, two := start(t, settings...), start(t, settings...)
	h := one.create("webhook.renewed", "payloadType", "raw")
	added := one.command("webhook.token.add", map[string]any{"eventKey": h.EventKey}).wantStatus(t, 200).object(t)
	further := hook{UUID: added["token"].(string), EventKey: h.EventKey}
	answers := func(h hook, status int) func() bool {
		return func() bool { return two.call(h, "text/plain", "x").status == status }
	}
	eventually(t, "the further token", answers(further, 200))
	eventually(t, "the first token", answers(h, 200))
	two.command("webhook.token.delete", map[string]any{"eventKey": h.EventKey, "token": h.UUID[30:]}).wantStatus(t, 200)
	if got := two.call(h, "text/plain", "x"); got.status != 401 {
		t.Errorf("a deleted token is answered with %s", got)
	}
	eventually(t, "the end of the first token", func() bool { return one.call(h, "text/plain", "x").status == 401 })
	one.call(further, "text/plain", "x").wantStatus(t, 200)
}

// held asks for a result, and lets the server do the waiting.
func (s *service) held(ctx context.Context, id string) answer {
	s.t.Helper()
	if ctx.Err() != nil {
		s.t.Fatal("waited in vain for a result")
	}
	return s.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
}

// TestAnEngineThatComesBack: a node outlives its engine. It takes calls meanwhile,
// says what waits, and goes on with the pipelines when the engine is there again.
func TestAnEngineThatComesBack(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	nats, stop := runEngine(t, engineOptions(folder))
	way := natstest.StartProxy(t, nats.Addr().String())
	s := start(t, "nats="+way.URL, "secret-key="+strings.Repeat("0f", 32), untilDone)
	h := s.create("webhook.back")
	s.send("PUT", "/api/v3/pipeline/back", strings.NewReader("pipeline:\n- event.listen: {eventKey: webhook.back}\n- set: {value: \"#{request.correlationId} #{body.forwardId}\"}\n"), asAdmin).wantStatus(t, 200)
	s.call(h, "text/plain", "x").wantStatus(t, 200)
	stop()
	var spooled answer
	eventually(t, "a call goes to the spool", func() bool {
		spooled = s.call(h, "text/plain", "x").wantStatus(t, 200)
		return strings.Contains(string(spooled.body), `"status":"processing"`)
	})
	id := spooled.header.Get("Svc-Result-Correlationid")
	if polled := s.send("GET", resultPath+"?pollingRedirectEnabled=false&svc-result-correlationid="+id, nil).result(t); polled.Status != "processing" {
		t.Errorf("the poll is answered %+v", polled)
	}
	for _, part := range []string{`"spooled":`, "wait in the spool"} {
		if ready := s.send("GET", "/readyz", nil).wantStatus(t, 200); !strings.Contains(string(ready.body), part) {
			t.Errorf("the readiness lacks %s: %s", part, ready.body)
		}
	}
	nats, stop = runEngine(t, engineOptions(folder))
	defer stop()
	way.LeadTo(nats.Addr().String())
	var polled answer
	eventually(t, "the call is run", func() bool {
		polled = s.held(t.Context(), id)
		return polled.status == 200
	})
	if got := polled.result(t); got.Value != id+" "+id {
		t.Errorf("the pipeline knows the call as %v, its caller as %s", got.Value, id)
	}
	replayed := s.command("event.replay", map[string]any{"traceId": traceOf(spooled)}).wantStatus(t, 200).object(t)
	again, _ := replayed["items"].([]any)[0].(map[string]any)["correlationId"].(string)
	if got := s.held(t.Context(), again).result(t); got.Value != again+" "+id {
		t.Errorf("targets know a replay of %s as %v", id, got.Value)
	}
	found := s.command("trace.get", map[string]any{"traceId": traceOf(spooled)}).wantStatus(t, 200).object(t)
	if calls := found["items"].([]any); len(calls) != 1 {
		t.Errorf("the trace has %v", calls)
	}
}

// TestAnEngineThatGoesAway: without a spool, calls are refused until it is back.
func TestAnEngineThatGoesAway(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	nats, stop := runEngine(t, engineOptions(folder))
	way := natstest.StartProxy(t, nats.Addr().String())
	s := start(t, "nats="+way.URL, "secret-key="+strings.Repeat("0f", 32), "spool=false")
	h := s.create("webhook.back")
	s.call(h, "text/plain", "x").wantStatus(t, 200)
	stop()
	eventually(t, "calls are refused", func() bool { return s.call(h, "text/plain", "x").status == 503 })
	nats, stop = runEngine(t, engineOptions(folder))
	defer stop()
	way.LeadTo(nats.Addr().String())
	eventually(t, "calls are taken again", func() bool { return s.call(h, "text/plain", "x").status == 200 })
}
