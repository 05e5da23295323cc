package serve_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A span is a piece of work as a collector of OpenTelemetry hears of it.
type span struct{ name, trace, parent, id string }

// spans collects what is sent over OTLP.
type spans struct {
	mu   sync.Mutex
	all  []span
	text strings.Builder // everything that was sent
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(content, &request) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(request.String())
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, x := range scope.GetSpans() {
				s.all = append(s.all, span{x.GetName(), hex.EncodeToString(x.GetTraceId()), hex.EncodeToString(x.GetParentSpanId()), hex.EncodeToString(x.GetSpanId())})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (s *spans) named(t *testing.T, name string) span {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		if x.name == name {
			return x
		}
	}
	t.Fatalf("there is no span %q among %v", name, s.all)
	return span{}
}

// TestSpans: the work of a call, its pipeline, its steps and the servers they
// call is one trace, which begins where the caller's did.
func TestSpans(t *testing.T) {
	sent := new(spans)
	outside := httptest.NewServer(sent)
	defer outside.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", outside.URL)
	called := make(chan http.Header, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.Header }))
	defer receiver.Close()

	s := start(t, "http-allow=127.0.0.0/8")
	h := s.create("webhook.spans")
	s.send("PUT", "/api/v3/pipeline/spans", strings.NewReader(`
pipeline:
- event.listen: {eventKey: webhook.spans}
- iam.run.as: {username: admin}
- http.request: {url: "`+receiver.URL+`"}
`), asAdmin).wantStatus(t, 200)
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	got := s.call(h, "text/plain", "x", header("traceparent", "00-"+trace+"-"+parent+"-01")).wantStatus(t, 200)
	outgoing := <-called
	s.stop()

	call, run, step := sent.named(t, "webhook.receive"), sent.named(t, "pipeline spans"), sent.named(t, "http.request")
	for _, x := range []span{call, run, step} {
		if x.trace != trace {
			t.Errorf("%s belongs to trace %s, want %s", x.name, x.trace, trace)
		}
	}
	if call.parent != parent || run.parent != call.id || step.parent != run.id {
		t.Errorf("the spans are not within each other: %v %v %v", call, run, step)
	}
	if want := "00-" + trace + "-" + step.id + "-01"; outgoing.Get("Traceparent") != want {
		t.Errorf("the server that is called hears of %q, want %q", outgoing.Get("Traceparent"), want)
	}
	if want := got.object(t)["traceId"]; outgoing.Get("Svc-Trace-Id") != want {
		t.Errorf("the server that is called hears of call %q, want %q", outgoing.Get("Svc-Trace-Id"), want)
	}
	if strings.Contains(sent.text.String(), h.UUID) {
		t.Error("the token is in a span")
	}
}
