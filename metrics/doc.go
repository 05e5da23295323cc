// Package metrics counts what happens, for Prometheus. The rooms tell it through
// functions it gives them; what is a state and not an event it asks the engine
// for when it is read. Labels are bounded: no tokens, no trace ids.
package metrics
