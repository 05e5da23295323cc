package jetstream

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// Failed is closed when the engine can't go on and the process must restart;
// Failure then tells why.
func (e *Engine) Failed() <-chan struct{} { return e.failed }

// Failure tells why the engine can't go on.
func (e *Engine) Failure() error { return e.failure }

// fail stops all writing for good. After a failed sync nobody knows what is on
// the disk; only a restart reads it back.
func (e *Engine) fail(err error) {
	e.failOnce.Do(func() {
		e.failure = err
		close(e.failed)
		e.log.Error("The engine can't write any more; the process must restart.", "error", err)
	})
}

// Ready gives nil when the engine can take writes, else an Unavailable error
// that tells why not.
func (e *Engine) Ready() error {
	if err := e.connected(); err != nil {
		return err
	}
	if e.lowDisk.Load() {
		return unavailable("disk-full", "Free disk space is below the configured minimum.")
	}
	return nil
}

// connected gives nil when the engine can be read.
func (e *Engine) connected() error {
	select {
	case <-e.failed:
		return unavailable("engine-failed", "The engine failed and is about to restart.")
	default:
	}
	select {
	case <-e.ready:
	default:
		return unavailable("engine-unavailable", "Not ready: "+e.problem.Load().(string)+".")
	}
	if e.server == nil && !e.nc.IsConnected() {
		return unavailable("engine-unavailable", "The connection to the engine is lost.")
	}
	return nil
}

// Warnings says what an operator should know: what the disk has lost, and what
// keeps an external engine from being as durable as the embedded one. Its
// sync_interval can't be seen from here.
func (e *Engine) Warnings() []string {
	var warnings []string
	if lost := e.events.damage.events.Load(); lost > 0 {
		warnings = append(warnings, fmt.Sprintf("the disk has lost %d events that were stored; the log says more", lost))
	}
	if e.server != nil {
		return warnings
	}
	warnings = append(warnings, "durability is the engine's: run it with sync_interval: always")
	if e.opts.Replicas < 3 {
		warnings = append(warnings, fmt.Sprintf("%d of 3 replicas: losing that one server loses or blocks events; set --nats-replicas 3", e.opts.Replicas))
	}
	return warnings
}

// unavailable is an error of ours that passes: try again soon.
func unavailable(code, message string) *sluice.Error {
	return sluice.Errorf(sluice.Unavailable, code, "%s Try again soon.", message).After(2 * time.Second)
}

// noAnswer is the error of an engine that could not be asked.
func noAnswer(err error) error {
	return unavailable("engine-unavailable", "The engine did not answer.").Because(err)
}

// wasConflict tells whether a write lost against another one. Replicated
// streams say so with a code of their own.
func wasConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
