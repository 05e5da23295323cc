package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"sluice"
	"sluice/telemetry"
)

// TestMain checks that spans that were stopped leave nothing running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A receiver is a collector of OpenTelemetry.
type receiver struct {
	mu    sync.Mutex
	about []*common.KeyValue // of the program that sends
	spans map[string]*otlp.Span
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var export collector.ExportTraceServiceRequest
	content, err := io.ReadAll(request.Body)
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(content, &export) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range export.GetResourceSpans() {
		r.about = resource.GetResource().GetAttributes()
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[span.GetName()] = span
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// receive starts a receiver that the environment names.
func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{spans: make(map[string]*otlp.Span)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return r
}

func start(t *testing.T, log io.Writer) *telemetry.Spans {
	t.Helper()
	spans, err := telemetry.Start(t.Context(), "1.2.3", slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return spans
}

// texts returns attributes by their names.
func texts(attributes []*common.KeyValue) map[string]any {
	all := make(map[string]any)
	for _, a := range attributes {
		switch value := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			all[a.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			all[a.GetKey()] = value.IntValue
		}
	}
	return all
}

// TestWanted: spans are sent only where the standard variables say where to.
func TestWanted(t *testing.T) {
	for _, test := range []struct {
		variables map[string]string
		want      bool
	}{
		{nil, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		t.Run("", func(t *testing.T) {
			for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"} {
				t.Setenv(name, test.variables[name])
			}
			if got := telemetry.Wanted(); got != test.want {
				t.Errorf("%v: wanted is %v", test.variables, got)
			}
		})
	}
}

// TestSpansAreSent: what belongs together is told so, under the names that
// OpenTelemetry has; of an error its code is told, and never its message.
func TestSpansAreSent(t *testing.T) {
	r := receive(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=hooks")
	spans := start(t, io.Discard)
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	call, endCall := spans.Start(t.Context(), sluice.Span{Name: "receive", Subject: "orders", Kind: sluice.ServerSpan, Traceparent: caller, SpanFacts: sluice.SpanFacts{
		Method: "POST", Path: "/hook", Server: "example.org", Secure: true, EventKey: "webhook.orders", User: "ada",
	}})
	spans.Add(call, sluice.SpanFacts{TraceID: "abcdef:1", StatusCode: 422})
	step, endStep := spans.Start(call, sluice.Span{Name: "request", Kind: sluice.ClientSpan, SpanFacts: sluice.SpanFacts{TraceID: "abcdef:1", Method: "GET", Server: "other.example", Port: "8443"}})
	if parent := spans.Traceparent(step); !strings.HasPrefix(parent, "00-0af7651916cd43dd8448eb211c80319c-") || parent == caller || parent == spans.Traceparent(call) {
		t.Errorf("others are told of the work %q", parent)
	}
	endStep(sluice.CodeTooManyRuns.Errorf("hush: what a payload brought"))
	endCall(sluice.CodeParameterInvalid.Errorf("hush: what a caller sent"))
	if err := spans.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if got := texts(r.about); got["service.name"] != "hooks" || got["service.version"] != "1.2.3" {
		t.Errorf("the program is told to be %v", got)
	}
	received, requested := r.spans["receive orders"], r.spans["request"]
	if received == nil || requested == nil || len(r.spans) != 2 {
		t.Fatalf("the receiver has %v", r.spans)
	}
	if got := hex.EncodeToString(received.GetTraceId()) + " " + hex.EncodeToString(received.GetParentSpanId()); got != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" {
		t.Errorf("the call is part of %s", got)
	}
	if !bytes.Equal(requested.GetParentSpanId(), received.GetSpanId()) || received.GetKind() != otlp.Span_SPAN_KIND_SERVER || requested.GetKind() != otlp.Span_SPAN_KIND_CLIENT {
		t.Errorf("the request is %v, of the call %v", requested, received)
	}
	for _, diff := range []string{
		cmp.Diff(map[string]any{
			"http.request.method": "POST", "url.path": "/hook", "url.scheme": "https", "server.address": "example.org", "server.port": int64(443),
			"sluice.event_key": "webhook.orders", "svc.trace_id": "abcdef:1", "enduser.id": "ada", "http.response.status_code": int64(422), "error.type": "parameter-invalid",
		}, texts(received.GetAttributes())),
		cmp.Diff(map[string]any{
			"http.request.method": "GET", "url.scheme": "http", "server.address": "other.example", "server.port": int64(8443), "svc.trace_id": "abcdef:1", "error.type": "too-many-runs",
		}, texts(requested.GetAttributes())),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
	if received.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
		t.Error("the mistake of a caller counts as a failure of ours")
	}
	if requested.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR || requested.GetStatus().GetMessage() != "too-many-runs" {
		t.Errorf("the failed request has the status %v", requested.GetStatus())
	}
	if text := received.String() + requested.String(); strings.Contains(text, "hush") {
		t.Errorf("a message is told outside: %s", text)
	}
}

// TestTheTraceIDIsInherited: work within a call is found by the id of the call.
func TestTheTraceIDIsInherited(t *testing.T) {
	r := receive(t)
	spans := start(t, io.Discard)
	call, endCall := spans.Start(t.Context(), sluice.Span{Name: "call", SpanFacts: sluice.SpanFacts{TraceID: "abcdef:1"}})
	_, endStep := spans.Start(call, sluice.Span{Name: "step"})
	endStep(nil)
	endCall(nil)
	if err := spans.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := texts(r.spans["step"].GetAttributes())["svc.trace_id"]; got != "abcdef:1" {
		t.Errorf("the step has the trace id %v", got)
	}
}

// TestAReceiverThatHangs: work goes on as if nobody were told of it, however much
// there is to tell, and a stop takes no longer than it may.
func TestAReceiverThatHangs(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(asked) })
		<-goOn
	}))
	defer server.Close()
	defer close(goOn)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	var log bytes.Buffer
	spans := start(t, &log)
	work := func(count int) {
		for range count {
			_, end := spans.Start(t.Context(), sluice.Span{Name: "work"})
			end(nil)
		}
	}
	work(512) // as many as are sent together
	<-asked
	work(50_000) // while the receiver holds the first ones: this would never end if it waited
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := spans.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the stop gives %v", err)
	}
}

// TestAReceiverThatIsAway: the log says that spans were lost.
func TestAReceiverThatIsAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
	var log bytes.Buffer
	spans := start(t, &log)
	_, end := spans.Start(t.Context(), sluice.Span{Name: "work"})
	end(nil)
	if err := spans.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "Spans could not be sent.") {
		t.Errorf("the log is %q", log.String())
	}
}

// TestLogLines: lines that belong to a span have its ids, other lines have none.
func TestLogLines(t *testing.T) {
	receive(t)
	spans := start(t, io.Discard)
	ctx, end := spans.Start(t.Context(), sluice.Span{Name: "work"})
	var written bytes.Buffer
	log := telemetry.Log(slog.New(slog.NewJSONHandler(&written, nil)))
	log.With("pipeline", "p").InfoContext(ctx, "within")
	log.Info("outside")
	end(nil)
	if err := spans.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(&written)
	for _, within := range []bool{true, false} {
		var line map[string]any
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		trace, _ := line["trace_id"].(string)
		span, _ := line["span_id"].(string)
		if belongs := trace != "" && spans.Traceparent(ctx) == "00-"+trace+"-"+span+"-01"; belongs != within || (trace == "") == within {
			t.Errorf("the line is %v", line)
		}
	}
}
