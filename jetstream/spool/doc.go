// Package spool takes calls while an external engine is away, and hands them over
// when it is back.
//
// A Spool (spool.go) is streams of an embedded engine in the node's data folder,
// with the same group commit. One of them, a box (box.go), is written to; when all
// in it is handed over, another one takes its place. HandOver (handover.go) stores
// the calls of a box among the events of the external engine, in order, and with
// each batch of them a marker (marker.go) that says where they are now. It decides
// on condition of the marker before, so nothing is handed over twice, and leads
// from the ids that the spool gave out to the events.
//
// A Fallback (fallback.go) stands before the store of events: it decides when a call goes
// to the spool, and finds the results of calls that wait there. The
// packages correlation, delivery and stream, beside this one, have the ids, the
// repeated deliveries, and what all streams have in common.
package spool
