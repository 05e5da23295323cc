// Package telemetry sends spans of work to an OpenTelemetry collector over OTLP, if the
// standard OTEL_… variables name one. It implements sluice.Tracer for the other packages, and
// hides OpenTelemetry's names and globals from them.
package telemetry

import (
	"context"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

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
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("Spans could not be sent.", "error", err)
	}))
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "sluice"), attribute.String("service.version", version)),
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
