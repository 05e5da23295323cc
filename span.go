package sluice

import "context"

// Spans tells outside tools which work belongs together, as OpenTelemetry does.
// A nil Spans tells nobody.
type Spans interface {
	// Start begins a piece of work within that of ctx, or within the one that
	// a traceparent header tells of, if it is not empty. What is done with
	// the context it gives belongs to it. Attributes are names and values in
	// turn. end is called once, with the error of the work.
	Start(ctx context.Context, name, traceparent string, attributes ...string) (_ context.Context, end func(error))

	// Traceparent gives the header that tells others of the work of ctx,
	// empty if there is none.
	Traceparent(ctx context.Context) string
}
