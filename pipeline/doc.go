// Package pipeline is the heart of the service: a source becomes a checked
// program, and a program runs. Parse reads YAML or JSON and finds every mistake
// before anything runs; a Program is a tree of steps, each of which calls a
// command; the Runner starts programs for events, for callers and for other
// pipelines, and keeps the stored ones.
//
// # Values
//
// A run works on values as JSON has them: nil, bool, int, float64, string,
// []any and map[string]any, and json.Number for numbers that neither int nor
// float64 holds. No value is ever changed once it is made: steps share values
// freely, and what assigns a variable puts a new value in its place. Commands
// must keep to that as well.
//
// # Neighbours
//
// What a command is, is package command's business; the language within #{…} is
// package expression's; the steps are commands of every room. Package jetstream
// stores pipelines, hands out events and keeps outcomes and dead letters.
package pipeline
