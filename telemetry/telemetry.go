// Package telemetry sends spans of work to an OpenTelemetry collector over OTLP, if the
// standard OTEL_… variables name one. It implements sluice.Tracer for the other packages, and
// hides OpenTelemetry's names and globals from them.
package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"sluice"
)

const header = "traceparent"

var kinds = map[sluice.SpanKind]trace.SpanKind{
	sluice.InternalSpan: trace.SpanKindInternal,
	sluice.ServerSpan:   trace.SpanKindServer,
	sluice.ClientSpan:   trace.SpanKindClient,
	sluice.ConsumerSpan: trace.SpanKindConsumer,
}

// work is what is known about the span of a context.
type work struct {
	kind       sluice.SpanKind
	traceID    string
	statusCode int
}

type workKey struct{}

// workOf returns the work of a context, or a new one.
func workOf(ctx context.Context) *work {
	if w, ok := ctx.Value(workKey{}).(*work); ok {
		return w
	}
	return new(work)
}

// Start implements sluice.Tracer.
func (s *Spans) Start(ctx context.Context, about sluice.Span) (context.Context, func(error)) {
	if about.Traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: about.Traceparent})
	}
	about.TraceID = cmp.Or(about.TraceID, workOf(ctx).traceID)
	w := &work{kind: about.Kind, traceID: about.TraceID}
	ctx = context.WithValue(ctx, workKey{}, w)
	name := strings.TrimSpace(about.Name + " " + about.Subject)
	//nolint:spancheck // the caller ends it
	ctx, span := s.tracer.Start(ctx, name, trace.WithSpanKind(kinds[about.Kind]),
		trace.WithAttributes(attributes(about.SpanFacts)...))
	return ctx, func(err error) { //nolint:spancheck // the caller ends it
		if err != nil {
			// The message may hold parts of a payload: the code says enough.
			code := sluice.AsError(err).Code
			span.SetAttributes(attribute.String("error.type", code))
			if !w.refused() {
				span.SetStatus(codes.Error, code)
			}
		}
		span.End()
	}
}

// refused reports whether the server refused a request because of the caller's mistake.
func (w *work) refused() bool {
	return w.kind == sluice.ServerSpan && w.statusCode > 0 && w.statusCode < http.StatusInternalServerError
}

// Add implements sluice.Tracer.
func (s *Spans) Add(ctx context.Context, facts sluice.SpanFacts) {
	w := workOf(ctx)
	if facts.TraceID != "" {
		w.traceID = facts.TraceID
	}
	if facts.StatusCode != 0 {
		w.statusCode = facts.StatusCode
	}
	trace.SpanFromContext(ctx).SetAttributes(attributes(facts)...)
}

// attributes returns facts under OpenTelemetry's names.
func attributes(facts sluice.SpanFacts) []attribute.KeyValue {
	var all []attribute.KeyValue
	for _, text := range []struct{ name, value string }{
		{"http.request.method", facts.Method},
		{"url.path", facts.Path},
		{"server.address", facts.Server},
		{"sluice.event_key", facts.EventKey},
		{"svc.trace_id", facts.TraceID},
		{"enduser.id", facts.User},
	} {
		if text.value != "" {
			all = append(all, attribute.String(text.name, text.value))
		}
	}
	if facts.Method != "" {
		scheme, port := "http", 80
		if facts.Secure {
			scheme, port = "https", 443
		}
		if given, err := strconv.Atoi(facts.Port); err == nil {
			port = given
		}
		all = append(all, attribute.String("url.scheme", scheme))
		if facts.Server != "" {
			all = append(all, attribute.Int("server.port", port))
		}
	}
	if facts.StatusCode != 0 {
		all = append(all, attribute.Int("http.response.status_code", facts.StatusCode))
	}
	return all
}

// Traceparent implements sluice.Tracer.
func (s *Spans) Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Spans implements sluice.Tracer.
type Spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Wanted reports whether the environment names a collector.
func Wanted() bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Start returns spans that are sent as the OTEL_… variables say. It logs failures to send.
func Start(ctx context.Context, version string, log *slog.Logger) (*Spans, error) {
	// The library has one error handler for the whole program.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("Spans could not be sent.", "error", err) }))
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "sluice"),
			attribute.String("service.version", version)),
		resource.WithFromEnv()) // what the operator says wins
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Spans{provider: provider, tracer: provider.Tracer("sluice")}, nil
}

// Stop sends the remaining spans.
func (s *Spans) Stop(ctx context.Context) error { return s.provider.Shutdown(ctx) }

// Log returns a logger that adds the ids of the current span to its lines, so that tools can
// join them.
func Log(log *slog.Logger) *slog.Logger { return slog.New(&handler{log.Handler()}) }

type handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, line slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		line.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.Handler.WithGroup(name)} }
