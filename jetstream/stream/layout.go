package stream

import (
	"time"

	"sluice"
)

// This file has the names of all streams, buckets and subjects of an engine. They are
// stored, so none may ever change.

// Names of streams.
const (
	Events      = "EVENTS"
	Results     = "RESULTS"
	Waiting     = "WAITING"
	DeadLetters = "DEADLETTERS"
	Quarantine  = "QUARANTINE"
	Audit       = "AUDIT"
	Journal     = "JOURNAL"
	Index       = "INDEX"      // of the journal
	Loose       = "LOOSE"      // calls without an event
	Sealed      = "SEALED"     // which generation of the buckets counts
	Deliveries  = "DELIVERIES" // embedded engine only
	SpoolPrefix = "SPOOL_"     // of the streams in a spool
)

// Names are those of the streams that an external engine has.
var Names = []string{Events, Results, Waiting, DeadLetters, Quarantine, Audit, Journal, Index, Loose, Sealed}

// The engine's client prefixes the streams and subjects of buckets with these.
const (
	BucketPrefix   = "KV_"
	BucketSubjects = "$KV."
)

// Names of the buckets of records. On the engine the generation follows.
const (
	Accounts       = "accounts"
	AlertRules     = "alertrules"
	Alerts         = "alerts"
	Certificates   = "certificates"
	Clients        = "clients"
	Closed         = "closed"
	Erasures       = "erasures"
	Forgotten      = "forgotten"
	LowWater       = "floors"
	Hours          = "hours"
	Keys           = "keys"
	Missed         = "missed"
	Minutes        = "minutes"
	Pipelines      = "pipelines"
	PortalSessions = "portal"
	Roles          = "roles"
	Secrets        = "secrets"
	Sessions       = "sessions"
	SigningKeys    = "signing"
	PipelineStates = "states"
	Tickings       = "tickings"
	Versions       = "versions"
	Webhooks       = "webhooks"
)

// Subjects, or what they begin with.
const (
	OurSubjects = "svc." // all subjects except those of buckets begin with it

	EventPrefix      = sluice.EventPrefix      // before the key of an event
	MessagePrefix    = "svc.message."          // before the key of a message that is no event
	DirectPrefix     = "svc.direct."           // before the binding of the one pipeline an event is for
	BatchPrefix      = DirectPrefix + "batch." // before the key of a call that brought several events
	WithdrawnSubject = DirectPrefix + "withdrawn"
	ProbeSubject     = DirectPrefix + "probe"
	OutcomePrefix    = "svc.result."
	WaitingPrefix    = "svc.waiting."

	DeliveryPrefix   = "svc.delivery." // before the key of a delivery, on an external engine
	SpooledPrefix    = "svc.spooled."  // before the place of calls that a spool handed over
	DeadLetterPrefix = "svc.deadletter."
	QuarantinePrefix = "svc.quarantine."
	ChunkPrefix      = "svc.journal.page." // before the number of a chunk
	IndexPrefix      = "svc.index."
	LoosePrefix      = "svc.loose."

	DeliveriesSubject = "svc.deliveries"
	SealedSubject     = "svc.sealed"
	ChangeSubject     = "svc.audit"
	AccessSubject     = "svc.audit.access"

	// NodeSubject and the next three carry what nodes tell each other, which is not stored.
	NodeSubject  = "svc.node"  // which server they use and which version they are
	DonePrefix   = "svc.done." // before the node that waits for an outcome
	AwaitSubject = "svc.await" // that they wait for an outcome
	RetrySubject = "svc.retry" // that events should be tried now
)

// How long streams keep messages, and how many bytes of them, where there is no setting for
// it. Changes in the audit log have a subject of their own, so that refused attempts can't
// drive them out. AuditBytes is more than two full subjects take.
const (
	AuditAge     = 365 * 24 * time.Hour
	AuditEntries = 500_000 // of each subject
	AuditBytes   = 1 << 30

	DeadLetterAge   = 30 * 24 * time.Hour
	DeadLetterBytes = 1 << 30

	QuarantineAge   = 7 * 24 * time.Hour
	QuarantineBytes = 256 << 20

	DeliveryAge     = 168 * time.Hour // the longest window of a webhook
	DeliveriesAge   = DeliveryAge + 24*time.Hour
	DeliveriesBytes = 2 << 30

	IndexBeyond = 24 * time.Hour // longer than the events
	IndexBytes  = 4 << 30
	LooseBytes  = 1 << 30
)
