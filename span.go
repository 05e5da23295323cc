package sluice

import "context"

// A Span is a piece of work, as reported to outside tools.
type Span struct {
	Name             string
	Subject          string // what is worked on; the name that tools show ends with it
	Traceparent      string // header of the work it is part of; if empty, the context has that work
	Attribute, Value string // one more detail
}

// A Tracer reports to outside tools which work belongs together, as
// OpenTelemetry does.
type Tracer interface {
	// Start begins a piece of work. What is done with the context it returns is
	// part of it. end is called once, with the error of the work.
	Start(ctx context.Context, span Span) (_ context.Context, end func(error))

	// Traceparent returns the header that tells others of the work of ctx,
	// empty if there is none.
	Traceparent(ctx context.Context) string
}

// Spans does work in spans. The zero value reports none, and costs nothing.
type Spans struct{ Tracer Tracer }

// Do does a piece of work in a span, and returns its error.
func (s Spans) Do(ctx context.Context, span Span, work func(context.Context) error) error {
	if s.Tracer == nil {
		return work(ctx)
	}
	ctx, end := s.Tracer.Start(ctx, span)
	err := work(ctx)
	end(err)
	return err
}

// Traceparent returns the header that tells others of the work of ctx, empty if
// there is none.
func (s Spans) Traceparent(ctx context.Context) string {
	if s.Tracer == nil {
		return ""
	}
	return s.Tracer.Traceparent(ctx)
}
