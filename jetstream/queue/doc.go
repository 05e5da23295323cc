// Package queue hands stored events to the pipelines that listen to them, and
// keeps what came of it.
//
// Read downward, as an event travels: subjects.go and listeners.go say which
// pipelines listen to it; queue.go binds a pipeline to the stream of events;
// consumption.go takes the events of one pipeline, runs it for each (crew.go),
// keeps the engine from delivering it twice meanwhile (heartbeat.go), and
// stores the outcome (outcomes.go) and, of a failure, a letter in package
// deadletter before the event is acknowledged (settle.go); hub.go wakes the caller
// who waits for the outcome, here or on another node (notices.go); kept.go tells
// for how long outcomes are kept. turns.go says which event is next; one that is
// to be tried again, and a replay that lets others go first, waits without its
// place (waiting.go, lane.go) until it is due (later.go). floors.go remembers how
// far pipelines are, in case the engine forgets; result.go returns what a pipeline
// has made of an event.
// How many runs go on at the same time is explained in the root package
// (concurrency.go).
//
// Storing events is package jetstream's business, running pipelines package
// pipeline's.
package queue
