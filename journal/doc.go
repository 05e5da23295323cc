// Package journal is where calls are searched: it records how calls and runs
// went, and finds them again.
//
// Read downward. Writing: journal.go takes entries in memory; lines.go turns them
// into messages; write.go stores these in the background, so that no call
// waits. entries.go and index.go keep a few bytes for each event that tell whether
// a search can pass over it. Searching: search.go (Journal.Calls) joins two walks,
// one through the stored events (search_events.go, with search_status.go for
// searches by status and search_text.go for texts) and one through what belongs to
// no event (search_loose.go). tail.go follows what is written as it happens.
//
// The events themselves are in package jetstream, which reports what was stored
// and settled, and knows the outcome of what is not settled yet. If the journal is
// lost, only how calls went is lost (docs/decisions/0010).
package journal
