// Package pipeline is what a server does with programs: it keeps stored pipelines
// and their versions, checks what their owners may do, runs them for events, for
// callers and for each other, retries failed runs, and keeps dead letters. The
// Runner holds all of it together, and Commands are what users see of it.
//
// A pipeline that starts with event.listen or message.receive is run for each
// event that matches. That step is never run: the event is the body already.
// Where a caller runs such a pipeline, the body is the caller's.
//
// # Neighbours
//
// Package pipeline/source makes a checked program of a source, pipeline/run runs it, and
// pipeline/rehearse runs it as a test or a try. The steps are commands of all packages.
// Package jetstream stores pipelines, delivers events and keeps outcomes and dead letters.
package pipeline
