// Package delivery remembers which deliveries of senders were accepted, so that
// one that is repeated makes no second event (docs/decisions/0016).
//
// Once (once.go) stands before the store of events and answers a repeated delivery with
// the result of the first. On the embedded engine there is one writer, so Indexed asks an
// Index in memory (index.go); Records (records.go) keep what it knows beside the events,
// so that it is there again after a start. On an external engine several nodes accept
// calls: there, with Marked, the engine decides by a marker that is stored together with
// its event or not at all (marker.go).
//
// Where ids are in calls is package sender's business.
package delivery
