package jetstream

import (
	"fmt"

	"sluice"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/journal"
)

// Webhooks returns the stored webhooks, by token.
func (e *Engine) Webhooks() *record.Bucket[sluice.Webhook] { return e.webhooks }

// Events returns where events are accepted.
func (e *Engine) Events() sluice.Events { return e.accepts }

// Results returns the results of calls.
func (e *Engine) Results() sluice.Results { return e.results }

// Stored returns the events that are stored.
func (e *Engine) Stored() *Events { return e.events }

// Queue returns the queue that hands events to pipelines.
func (e *Engine) Queue() *queue.Queue { return e.queue }

// DeadLetters returns the events that pipelines failed on.
func (e *Engine) DeadLetters() *deadletter.Store { return e.deadLetters }

// Pipelines returns the store of pipelines, by name.
func (e *Engine) Pipelines() sluice.Pipelines { return e.pipelines }

// Versions returns the former sources of pipelines, by name.
func (e *Engine) Versions() sluice.Records[sluice.PipelineHistory] { return e.versions }

// Secrets returns the store of secrets, by name.
func (e *Engine) Secrets() sluice.Records[sluice.Secret] { return e.secrets }

// Journal returns the journal of calls.
func (e *Engine) Journal() *journal.Journal { return e.journal }

// Audit returns the audit log.
func (e *Engine) Audit() *Audit { return e.audit }

// Quarantine returns the calls that were refused and are kept.
func (e *Engine) Quarantine() *quarantine.Store { return e.quarantine }

// Accounts returns the store of accounts, by username.
func (e *Engine) Accounts() sluice.Records[sluice.Account] { return e.accounts }

// Roles returns the store of roles, by name.
func (e *Engine) Roles() sluice.Records[sluice.Role] { return e.roles }

// Clients returns the store of clients, by id.
func (e *Engine) Clients() sluice.Records[sluice.Client] { return e.clients }

// Sessions returns the store of sessions, by id.
func (e *Engine) Sessions() sluice.Records[sluice.Session] { return e.sessions }

// SigningKeys returns the store of the keys that sign tokens, by id.
func (e *Engine) SigningKeys() sluice.Records[sluice.SigningKey] { return e.signing }

// PortalSessions returns the store of portal sessions, by id.
func (e *Engine) PortalSessions() sluice.Records[sluice.PortalSession] { return e.portal }

// Minutes returns the store of the sums of each minute of the last day.
func (e *Engine) Minutes() sluice.Records[sluice.Minute] { return e.minutes }

// PipelineStates returns the store of which pipelines fail, by name.
func (e *Engine) PipelineStates() sluice.Records[sluice.PipelineState] { return e.states }

// Hours returns the store of the sums of each hour of the last 30 days.
func (e *Engine) Hours() sluice.Records[sluice.Minute] { return e.hours }

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
	return e.events.room()
}

// Failed is closed when the engine can't go on and the process must restart;
// Failure then says why.
func (e *Engine) Failed() <-chan struct{} { return e.host.Failed() }

// Failure reports why the engine can't go on.
func (e *Engine) Failure() error { return e.host.Failure() }

// Describe says in a few words what kind of engine this is.
func (e *Engine) Describe() string { return e.kind }

// Warnings returns what an operator should know: what the disk has lost, and
// what keeps an external engine from being as durable as the embedded one.
func (e *Engine) Warnings() []string {
	warnings := e.damaged()
	if lost := e.events.lost.Load(); lost > 0 {
		warnings = append(warnings, fmt.Sprintf("the disk has lost %d events that were stored; the log says more", lost))
	}
	if short := e.outcomes.Warning(); short != "" {
		warnings = append(warnings, short)
	}
	warnings = append(warnings, e.spoolWarnings()...)
	return append(append(warnings, e.nodes.warnings()...), e.advice...)
}
