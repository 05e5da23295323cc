package sluice

import "context"

// A Span is a piece of work that tracing tools are told of.
type Span struct {
	Name        string
	Subject     string // what the work is about; ends the name that tools show
	Kind        SpanKind
	Traceparent string // header that names the work it is part of; empty: the work of the context
	SpanFacts
}

// A SpanKind says on which side of a conversation work is done.
type SpanKind int

// Kinds of spans.
const (
	InternalSpan SpanKind = iota // within the program
	ServerSpan                   // answers a request
	ClientSpan                   // waits for another server
	ConsumerSpan                 // handles an event
)

// SpanFacts describe a piece of work. Zero fields are left out.
type SpanFacts struct {
	Method, Path, Server string // of an HTTP request
	Secure               bool   // it comes or goes by HTTPS
	Port                 string // of the server that it goes to; empty: that of the scheme
	StatusCode           int    // of its answer
	EventKey             string
	TraceID              string // of the call that led to it; work within that of another has the same
	User                 string // who it is done for
}

// A Tracer tells tracing tools which work belongs together, as OpenTelemetry does.
type Tracer interface {
	// Start begins a piece of work. Whatever is done with the returned context is
	// part of it. end is called once, with the error of the work.
	Start(ctx context.Context, span Span) (_ context.Context, end func(error))

	// Add reports further facts about the work of ctx.
	Add(ctx context.Context, facts SpanFacts)

	// Traceparent returns the header that names the work of ctx to others, empty if
	// there is none.
	Traceparent(ctx context.Context) string
}

// Spans does work in spans. The zero value reports nothing, and costs nothing.
type Spans struct{ Tracer Tracer }

// Do does a piece of work in a span, and gives its error.
func (s Spans) Do(ctx context.Context, span Span, work func(context.Context) error) error {
	if s.Tracer == nil {
		return work(ctx)
	}
	ctx, end := s.Tracer.Start(ctx, span)
	err := work(ctx)
	end(err)
	return err
}

// Add reports further facts about the work of ctx.
func (s Spans) Add(ctx context.Context, facts SpanFacts) {
	if s.Tracer != nil {
		s.Tracer.Add(ctx, facts)
	}
}

// Traceparent returns the header that names the work of ctx to others, empty if there is
// none.
func (s Spans) Traceparent(ctx context.Context) string {
	if s.Tracer == nil {
		return ""
	}
	return s.Tracer.Traceparent(ctx)
}
