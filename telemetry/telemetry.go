// Package telemetry sends spans of work to a collector of OpenTelemetry, over
// OTLP, if the standard OTEL_… variables say where that is. It implements
// sluice.Tracer, through which the other packages begin spans.
package telemetry

import (
	"context"
	"os"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"sluice"
)

// Spans implements sluice.Tracer.
type Spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Wanted reports whether the environment says where to send spans.
func Wanted() bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Start returns spans that are sent as the OTEL_… variables say.
func Start(ctx context.Context, version string) (*Spans, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "sluice"), attribute.String("service.version", version)),
		resource.WithFromEnv()) // the operator's settings win
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Spans{provider: provider, tracer: provider.Tracer("sluice")}, nil
}

// Stop sends what is left.
func (s *Spans) Stop(ctx context.Context) error { return s.provider.Shutdown(ctx) }

const header = "traceparent"

// Start implements sluice.Tracer.
func (s *Spans) Start(ctx context.Context, about sluice.Span) (context.Context, func(error)) {
	if about.Traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: about.Traceparent})
	}
	var attributes []attribute.KeyValue
	if about.Attribute != "" {
		attributes = append(attributes, attribute.String(about.Attribute, about.Value))
	}
	name := strings.TrimSpace(about.Name + " " + about.Subject)
	ctx, span := s.tracer.Start(ctx, name, trace.WithAttributes(attributes...)) //nolint:spancheck // the caller ends it
	return ctx, func(err error) {                                               //nolint:spancheck // the caller ends it
		if err != nil {
			// The message may hold a part of a payload: the code says enough.
			span.SetStatus(codes.Error, sluice.AsError(err).Code)
		}
		span.End()
	}
}

// Traceparent implements sluice.Tracer.
func (s *Spans) Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}
