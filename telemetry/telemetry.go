// Package telemetry sends spans of work to a collector of OpenTelemetry, over
// OTLP, if the standard OTEL_… variables say where that is. It implements
// sluice.Tracer, through which other packages begin spans. What OpenTelemetry
// calls things, and all that is global in it, stays in here.
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

// Wanted reports whether the environment says where spans are to be sent.
func Wanted() bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Start returns spans that are sent as the OTEL_… variables say. What goes
// wrong with that is logged.
func Start(ctx context.Context, version string, log *slog.Logger) (*Spans, error) {
	// The library knows one place for the whole program to complain at.
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

// Stop sends what is left.
func (s *Spans) Stop(ctx context.Context) error { return s.provider.Shutdown(ctx) }
