// Package stream has what all streams of the engine have in common: the host they live on
// and whether it can be used, durable writes, reading many messages at a time, and the
// engine's errors in our words.
//
// layout.go has the names of all streams and how long they keep messages. host.go and
// health.go describe the host, and engine.go how an embedded engine and an external one
// differ: the first has a group commit (batch.go), the second batches (cluster.go) that go
// straight to the leader (shortcut.go). fetch.go and scan.go read.
//
// The packages above decide what is in the messages: record, queue, journal, jetstream.
package stream
