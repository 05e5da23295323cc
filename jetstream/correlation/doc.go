// Package correlation has the ids that find their event, and the first fields
// of the event that an id leads to: enough to know whether it is the right one,
// when it came, and which pipelines listen to it.
//
// It reads no stream: package jetstream does that for results, package journal for
// searches.
package correlation
