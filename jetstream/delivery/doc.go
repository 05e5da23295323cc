// Package delivery remembers which deliveries of senders were accepted, so that
// one that is repeated makes no second event (docs/decisions/0016).
//
// On the embedded engine there is one writer: an Index in memory (index.go)
// decides, and Records (records.go) keep what it knows beside the events, so that
// it is there again after a start. On an external engine several nodes accept
// calls: there the engine decides, by a marker that is stored together with its
// event or not at all (marker.go).
//
// Where ids are in calls is package sender's business, what is answered to a
// repeated one package jetstream's.
package delivery
