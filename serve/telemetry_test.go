package serve_test

import (
	"cmp"
	"encoding/hex"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A span is a piece of work as a collector of OpenTelemetry hears of it.
type span struct {
	name, trace, parent, id string
	kind                    string
	attributes              map[string]string
	failed                  bool
}

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
				s.all = append(s.all, spanOf(x))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func spanOf(x *otlp.Span) span {
	found := span{
		name: x.GetName(), trace: hex.EncodeToString(x.GetTraceId()), parent: hex.EncodeToString(x.GetParentSpanId()), id: hex.EncodeToString(x.GetSpanId()),
		kind:       strings.TrimPrefix(x.GetKind().String(), "SPAN_KIND_"),
		attributes: make(map[string]string),
		failed:     x.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR,
	}
	for _, a := range x.GetAttributes() {
		found.attributes[a.GetKey()] = cmp.Or(a.GetValue().GetStringValue(), strconv.FormatInt(a.GetValue().GetIntValue(), 10))
	}
	return found
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

	call, run, step, request := sent.named(t, "webhook.receive"), sent.named(t, "pipeline spans"), sent.named(t, "http.request"), sent.named(t, "GET")
	for _, x := range []span{call, run, step, request} {
		if x.trace != trace {
			t.Errorf("%s belongs to trace %s, want %s", x.name, x.trace, trace)
		}
	}
	if call.parent != parent || run.parent != call.id || step.parent != run.id || request.parent != step.id {
		t.Errorf("the spans are not within each other: %v %v %v", call, run, step)
	}
	if want := "00-" + trace + "-" + request.id + "-01"; outgoing.Get("Traceparent") != want {
		t.Errorf("the server that is called hears of %q, want %q", outgoing.Get("Traceparent"), want)
	}
	if want := got.object(t)["traceId"]; outgoing.Get("Svc-Trace-Id") != want {
		t.Errorf("the server that is called hears of call %q, want %q", outgoing.Get("Svc-Trace-Id"), want)
	}
	traceID, port := got.header.Get("Svc-Trace-Id"), receiver.Listener.Addr().(*net.TCPAddr).Port
	wantSpan(t, call, "SERVER", map[string]string{
		"http.request.method": "POST", "url.scheme": "http", "url.path": receivePath, "http.response.status_code": "200", "sluice.event_key": "webhook.spans", "svc.trace_id": traceID,
	})
	wantSpan(t, run, "CONSUMER", map[string]string{"sluice.event_key": "webhook.spans", "svc.trace_id": traceID})
	wantSpan(t, step, "INTERNAL", map[string]string{"svc.trace_id": traceID})
	wantSpan(t, request, "CLIENT", map[string]string{
		"http.request.method": "GET", "url.scheme": "http", "server.address": "127.0.0.1", "server.port": strconv.Itoa(port), "http.response.status_code": "200", "svc.trace_id": traceID,
	})
	wantSpan(t, sent.named(t, "webhook.put"), "SERVER", map[string]string{
		"http.request.method": "POST", "url.scheme": "http", "url.path": "/api/v3/command/webhook.put", "http.response.status_code": "200", "enduser.id": "admin",
	})
	if !strings.Contains(s.log.String(), `"trace_id":"`+trace+`","span_id":"`+call.id+`"`) {
		t.Error("the log line of the call does not have the ids of its span")
	}
	if strings.Contains(sent.text.String(), h.UUID) {
		t.Error("the token is in a span")
	}
}

func wantSpan(t *testing.T, x span, kind string, attributes map[string]string) {
	t.Helper()
	if x.kind != kind || x.failed || !maps.Equal(x.attributes, attributes) {
		t.Errorf("%s is a span of kind %s, failed %v, with %v; want %s with %v", x.name, x.kind, x.failed, x.attributes, kind, attributes)
	}
}

// TestSpansOfRefusals: a call that is refused is no failure of the server's.
func TestSpansOfRefusals(t *testing.T) {
	sent := new(spans)
	outside := httptest.NewServer(sent)
	defer outside.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", outside.URL)
	s := start(t)
	s.send("POST", receivePath, strings.NewReader("x"), header("Token", "wrong")).wantStatus(t, 401)
	s.command("webhook.delete", map[string]any{"uuid": "00000000-0000-4000-8000-000000000000"}).wantStatus(t, 404)
	s.stop()
	for name, status := range map[string]string{"webhook.receive": "401", "webhook.delete": "404"} {
		x := sent.named(t, name)
		if x.failed || x.attributes["http.response.status_code"] != status || x.attributes["error.type"] == "" {
			t.Errorf("%s: failed %v, %v", name, x.failed, x.attributes)
		}
	}
}

// TestSpansThatCannotBeSent: the log says so, in its own form.
func TestSpansThatCannotBeSent(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer outside.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", outside.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	s := start(t)
	s.create("webhook.spans")
	eventually(t, "a line about it", func() bool { return strings.Contains(s.log.String(), `"msg":"Spans could not be sent."`) })
}
