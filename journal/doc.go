// Package journal is how a call is found again: it writes down how calls and runs
// went, and searches.
//
// Read downward. Writing: journal.go takes entries in memory; lines.go makes
// messages of them; write.go stores those behind the calls' backs. marks.go and
// index.go keep beside each event the few bytes that tell whether a search can
// pass over it. Searching: search.go joins two walks, one through the stored events
// (search_events.go, with search_failed.go and search_unfinished.go for searches
// by status) and one through what belongs to no event (search_eventless.go).
// tail.go follows what is written as it happens.
//
// The events themselves are package jetstream's: it says what was stored and
// settled, and is asked for the outcome of what is not settled yet. Nothing but
// how calls went is lost with the journal (docs/decisions/0010).
package journal
