// Package metrics counts what happens, for Prometheus. Other packages report to its functions;
// it asks the engine for state, such as lengths of queues, when it is read. Labels are
// bounded: no tokens, no trace ids.
package metrics
