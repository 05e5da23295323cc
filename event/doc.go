// Package event has the commands about events and messages: listen, receive,
// send and replay. What they store and read is the jetstream room's; which pipelines are
// started by what they declare is the pipeline room's.
package event
