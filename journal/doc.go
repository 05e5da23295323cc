// Package journal is where calls are searched: it records how calls and runs
// went, and finds them again.
//
// Read downward. Writing: journal.go takes entries in memory; lines.go makes
// messages of them; write.go stores them in the background, so that no call
// waits. marks.go and index.go keep beside each event the few bytes that tell
// whether a search can pass over it. Searching: search.go (Journal.Calls) joins
// two walks, one through the stored events (search_events.go, with
// search_failed.go and search_unfinished.go for searches by status) and one
// through what belongs to no event (search_eventless.go). tail.go follows what
// is written as it happens.
//
// The events themselves are in package jetstream, which reports what was stored
// and settled, and knows the outcome of what is not settled yet. Were the
// journal lost, only how calls went would be lost (docs/decisions/0010).
package journal
