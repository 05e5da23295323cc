// Package run runs programs: from a Program and a Start to an Outcome. All that a run
// needs from outside is in its Environment, so a rehearsal is a run as well.
//
// The body flows through the steps of a block: after foreach it is the body of the last
// round. The item of a round is vars.<as>, which gets its former value back after the
// block.
//
// # Values
//
// A run works on values as JSON has them: nil, bool, int, float64, string, []any
// and map[string]any, and json.Number for numbers that neither int nor float64
// holds. Values never change: steps share them freely, and assigning a variable puts a new
// value in its place. Commands must not change values either.
//
// # Secrets
//
// A secret that an expression has revealed is cut out of everything that people see of the
// run: its final body, its errors, its report, the arguments of log. The body that one
// pipeline returns to another has no secrets either.
//
// # Neighbours
//
// Package pipeline/source makes programs. Package pipeline starts runs for events
// and callers and decides about further attempts; package pipeline/rehearse starts
// them for tests and tries.
package run
