// Package pipeline stores pipelines and their versions, checks what their owners may do, runs
// them for events, for callers and for each other, retries failed runs, and keeps dead
// letters. The Runner joins all of it, and Commands are what users see.
//
// A pipeline that starts with event.listen or message.receive runs for each matching event.
// That step never runs: the event is the body already. If a caller runs such a pipeline, the
// body is the caller's.
//
// # Neighbours
//
// Package pipeline/source turns a source into a checked program, pipeline/run runs it, and
// pipeline/rehearse runs it as a test or a try. The steps are commands of all packages.
// Package jetstream stores pipelines, delivers events and keeps outcomes and dead letters.
package pipeline
