// Package source turns a text into a checked Program. Parse reads YAML or JSON and finds
// every mistake before anything runs. A Program is data: a tree of steps, where each step
// calls a command or is a block of steps, and the tests of the source.
//
// # Sources
//
// A source has the section pipeline, a list of steps, and may have description,
// headers, vars, body, concurrency, rate, retry, timeout and tests. A step is the
// name of a command, or one name: {parameters}. Besides those of its command every
// step has these parameters:
//
//	id       a name of its own
//	if       an expression; the step is skipped if it is false or null
//	input    the input of the command, instead of the body
//	output   where the output goes: body (default), vars.<name>, headers.<name>
//	onError  throw (default); ignore: go on with the body as it was before, and
//	         the error in vars.error; retry: {times, wait}
//
// The blocks if: {true, then, else} and foreach: {in, as, do} hold steps
// themselves and take id, if and onError.
//
// # Neighbours
//
// Package command says which commands there are and checks their parameters;
// package expression has the language within #{…}. Package pipeline/run runs
// programs. Package pipeline checks who may do what a program does.
package source
