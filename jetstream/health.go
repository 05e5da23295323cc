package jetstream

import (
	"fmt"
	"slices"

	"sluice"
)

// SetUp returns a channel that is closed once streams and buckets are there.
func (e *Engine) SetUp() <-chan struct{} { return e.host.SetUp() }

// Ready returns nil if the engine or the spool takes calls, otherwise an Unavailable error
// that says why not.
func (e *Engine) Ready() error {
	err := e.accepts()
	if err != nil && e.fallback != nil && e.fallback.Accepts(err) && e.spool.Ready() == nil {
		return nil
	}
	return err
}

// accepts returns nil if the engine accepts events.
func (e *Engine) accepts() error {
	if err := e.host.Ready(); err != nil {
		return err
	}
	return e.Stored.space.room()
}

// Failed returns a channel that is closed when the engine can't go on and the process must
// restart. Failure then says why.
func (e *Engine) Failed() <-chan struct{} { return e.host.Failed() }

// Failure reports why the engine can't go on.
func (e *Engine) Failure() error { return e.host.Failure() }

// Warnings returns what an operator should know: losses of the disk, and reasons why an external
// engine is less durable than the embedded one.
func (e *Engine) Warnings() []string {
	warnings := e.Damage()
	for _, told := range []func() string{
		e.Queue.Outcomes.Shares.Warning, e.DeadLetters.Shares.Warning, e.budget.Warning,
	} {
		if warning := told(); warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return slices.Concat(warnings, e.spoolWarnings(), e.nodes.warnings(), e.replicas.warnings(), e.advice)
}

// Damage returns what the disk has lost or spoiled.
func (e *Engine) Damage() []string {
	damage := e.damage.first()
	if lost := e.Stored.lost.Load(); lost > 0 {
		damage = append(damage, fmt.Sprintf("the disk has lost %d events that were stored; the log says more", lost))
	}
	if e.spool != nil {
		damage = append(damage, e.spool.damage.first()...)
	}
	return damage
}

// Unwell returns why the engine takes no calls, or does so only in part: calls go to the
// spool, or replicas are missing.
func (e *Engine) Unwell() []string {
	var problems []string
	if err := e.accepts(); err != nil {
		problems = []string{sluice.AsError(err).Message}
	}
	return slices.Concat(problems, e.spoolWarnings(), e.replicas.warnings())
}

// spoolWarnings returns what an operator should know about the spool.
func (e *Engine) spoolWarnings() (warnings []string) {
	if e.spoolProblem != "" {
		warnings = append(warnings, e.spoolProblem)
	}
	if e.spool == nil {
		return warnings
	}
	if n := e.spool.Count(); n > 0 {
		warnings = append(warnings,
			fmt.Sprintf("%d calls wait in the spool of this node until the engine takes them", n))
	}
	if err := e.host.Ready(); err != nil {
		warnings = append(warnings,
			"the engine is away; calls go to the spool, and commands and pipelines have to wait")
	}
	if err := e.spool.Ready(); err != nil {
		warnings = append(warnings, "the spool takes no calls: "+sluice.AsError(err).Message)
	}
	return warnings
}
