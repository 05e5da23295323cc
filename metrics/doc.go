// Package metrics counts what happens, for Prometheus. Other packages report to
// it through its functions; for state, such as lengths of queues, it asks the
// engine when it is read. Labels are bounded: no tokens, no trace ids.
package metrics
