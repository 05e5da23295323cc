// Package correlation has the ids that find their event, and what stands at the
// head of the event that an id leads to: enough to tell whether it is the right
// one, when it came, and who listens to it.
//
// It reads no stream: package jetstream does for results, package journal for
// searches.
package correlation
