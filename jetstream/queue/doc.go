// Package queue hands stored events to the pipelines that listen to them, and
// keeps what came of it.
//
// Read downward, as an event travels. listeners.go says which pipelines listen to it;
// queue.go binds a pipeline to the stream of events. A delivery (delivery.go) comes
// from one of two sources: the pipeline's consumer (live.go) or, for an event that has
// waited, the waiting room (waited.go, on waiting.go and its index, line.go). All
// deliveries go the same way (consumption.go): they take a slot (slots.go) and memory
// (memory.go), run the pipeline, and have the outcome stored (outcomes.go) before their
// source is told. hub.go wakes the callers who wait for the outcome, here and on other
// nodes. progress.go and low_water.go tell how far pipelines are.
//
// How many runs go on at the same time is explained in the root package
// (concurrency.go). Storing events is package jetstream's business, running pipelines
// package pipeline's.
package queue
