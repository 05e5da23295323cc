// Package delivery remembers which deliveries of senders were accepted, so that a repeated
// one makes no second event (docs/decisions/0016).
//
// Once (once.go) stands before the store of events and answers a repeated delivery with
// the result of the first. The embedded engine has one writer, so Indexed asks an Index in
// memory (index.go), which Records (records.go) restore at a start. On an external engine
// several nodes accept calls, so there Marked lets the engine decide, by a marker that is
// stored together with its event or not at all (marker.go).
//
// Package sender knows where in a call its delivery id is.
package delivery
