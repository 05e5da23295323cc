package sluice

import "context"

// A Span is a piece of work, as outside tools are told of it.
type Span struct {
	Name             string
	Subject          string // what is worked on; the name that tools show ends with it
	Traceparent      string // header that tells of the work it is part of; empty: it is part of that of the context
	Attribute, Value string // one more thing to know of it
}

// A Tracer tells outside tools which work belongs together, as OpenTelemetry
// does.
type Tracer interface {
	// Start begins a piece of work. What is done with the context it gives is
	// part of it. end is called once, with the error of the work.
	Start(ctx context.Context, span Span) (_ context.Context, end func(error))

	// Traceparent gives the header that tells others of the work of ctx,
	// empty if there is none.
	Traceparent(ctx context.Context) string
}

// Spans does work in spans. The zero value tells nobody of them, and costs
// nothing.
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

// Traceparent gives the header that tells others of the work of ctx, empty if
// there is none.
func (s Spans) Traceparent(ctx context.Context) string {
	if s.Tracer == nil {
		return ""
	}
	return s.Tracer.Traceparent(ctx)
}
