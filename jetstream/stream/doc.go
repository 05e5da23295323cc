// Package stream is what all streams of the engine have in common: the host they
// live on and whether it can be used, writing messages so that they are durable,
// reading many of them at a time, and the engine's errors in our words.
//
// Read downward: host.go and health.go say where streams live; writer.go leads
// to the group commit of the embedded engine (batch.go) and to the batches of an
// external one (cluster.go), which go straight to the leader (shortcut.go); fetch.go
// and scan.go read.
//
// What is in the messages is up to the packages above: record, queue, journal,
// jetstream.
package stream
