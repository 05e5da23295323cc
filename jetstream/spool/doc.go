// Package spool takes calls while an external engine is away, and hands them over
// when it is back.
//
// A Spool (spool.go) has an embedded engine in the node's data folder, with the same group
// commit. It writes calls to one stream, its store (store.go). Once all calls of a store
// are handed over, a new store takes its place. HandOver (handover.go) stores the calls
// among the events of the external engine, in order. With each batch it stores a marker
// (marker.go) that says where the calls are now, and that leads from the ids which the
// spool gave out to the events. A batch is stored only if the marker before it is the one
// expected, so no call is handed over twice.
//
// A Fallback (fallback.go) stands before the store of events: it decides when a call goes
// to the spool, and finds the results of calls that wait there.
package spool
