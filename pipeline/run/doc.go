// Package run runs programs: from a Program and what starts it to an Outcome. All
// that a run needs from outside is in its Environment, so that a rehearsal is a
// run as well.
//
// The body flows through the steps of a block as if they stood outside: after
// foreach it is what the last round has made of it. The item of a round is
// vars.<as>, which has its former value again after the block.
//
// # Values
//
// A run works on values as JSON has them: nil, bool, int, float64, string, []any
// and map[string]any, and json.Number for numbers that neither int nor float64
// holds. No value is ever changed once it is made: steps share values freely, and
// what assigns a variable puts a new value in its place. Commands must keep to
// that as well.
//
// # Secrets
//
// A secret that an expression has revealed is cut out of all that leaves the run
// for people: its final body, its errors, its report, the arguments of log. What
// one pipeline returns to another that runs it is without secrets, too.
//
// # Neighbours
//
// Package pipeline/source makes programs. Package pipeline starts runs for events
// and callers and decides about further attempts; package pipeline/rehearse starts
// them for tests and tries.
package run
