package jetstream

import "fmt"

// SetUp is closed once streams and buckets are there.
func (e *Engine) SetUp() <-chan struct{} { return e.host.SetUp() }

// Ready returns nil when calls are taken, by the engine or by the spool; otherwise
// an Unavailable error that says why not.
func (e *Engine) Ready() error {
	err := e.takes()
	if err != nil && e.fallback != nil && e.fallback.Takes(err) && e.spool.Ready() == nil {
		return nil
	}
	return err
}

// takes returns nil when the engine takes events.
func (e *Engine) takes() error {
	if err := e.host.Ready(); err != nil {
		return err
	}
	return e.Stored.room()
}

// Failed is closed when the engine can't go on and the process must restart;
// Failure then says why.
func (e *Engine) Failed() <-chan struct{} { return e.host.Failed() }

// Failure reports why the engine can't go on.
func (e *Engine) Failure() error { return e.host.Failure() }

// Warnings returns what an operator should know: what the disk has lost, and
// what keeps an external engine from being as durable as the embedded one.
func (e *Engine) Warnings() []string {
	warnings := e.damaged()
	if lost := e.Stored.lost.Load(); lost > 0 {
		warnings = append(warnings, fmt.Sprintf("the disk has lost %d events that were stored; the log says more", lost))
	}
	if short := e.outcomes.Warning(); short != "" {
		warnings = append(warnings, short)
	}
	warnings = append(warnings, e.spoolWarnings()...)
	return append(append(warnings, e.nodes.warnings()...), e.advice...)
}
