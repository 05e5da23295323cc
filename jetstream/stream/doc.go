// Package stream is what all streams of the engine have in common: the host they
// live on and whether it can be used, writing messages so that they are durable,
// reading many of them at a time, and the engine's errors in our words.
//
// Read downward: layout.go has the names of all streams and how long they keep things;
// host.go and health.go say where streams live, engine.go how the embedded engine and an
// external one differ; writer.go leads
// to the group commit of the embedded engine (batch.go) and to the batches of an
// external one (cluster.go), which go straight to the leader (shortcut.go); fetch.go
// and scan.go read.
//
// What is in the messages is up to the packages above: record, queue, journal,
// jetstream.
package stream
