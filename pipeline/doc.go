// Package pipeline is the heart of the service: a source becomes a checked
// program, and a program runs. Parse reads YAML or JSON and finds every mistake
// before anything runs; a Program is a tree of steps, each of which calls a
// command; the Runner starts programs for events (and retries them,
// deliver.go), for callers and for other pipelines, and keeps the stored ones.
//
// # Sources
//
// A source has the section pipeline, a list of steps, and may have description,
// headers, vars, body, concurrency, rate, retry, timeout and tests. A step is the name
// of a command, or one name: {parameters}. Besides those of its command every
// step has these parameters:
//
//	id       a name of its own
//	if       an expression; the step is left out if it gives false or null
//	input    what the command gets as its input, in place of the body
//	output   where the output goes: body (default), vars.<name>, headers.<name>
//	onError  throw (default); ignore: go on with the body as it was before, and
//	         the error in vars.error; retry: {times, wait}
//
// The blocks if: {true, then, else} and foreach: {in, as, do} hold steps
// themselves and take id, if and onError. The body flows through the steps of a
// block as if they stood outside: after foreach it is what the last round has
// made of it. The item of a round is vars.<as>, which has its former value
// again after the block.
//
// A pipeline that starts with event.listen or message.receive is run for each
// event that matches. That step is never run: the event is the body already.
// Where a caller runs such a pipeline, the body is the caller's.
//
// # Values
//
// A run works on values as JSON has them: nil, bool, int, float64, string,
// []any and map[string]any, and json.Number for numbers that neither int nor
// float64 holds. No value is ever changed once it is made: steps share values
// freely, and what assigns a variable puts a new value in its place. Commands
// must keep to that as well.
//
// # Secrets
//
// A secret that an expression has revealed is cut out of all that leaves the run
// for people: its final body, its errors, its report, the arguments of log. What
// one pipeline answers to another that runs it is without secrets, too.
//
// # Neighbours
//
// Package command says what a command is; package expression has the language
// within #{…}; the steps are commands of all packages. Package jetstream stores
// pipelines, delivers events and keeps outcomes and dead letters.
package pipeline
