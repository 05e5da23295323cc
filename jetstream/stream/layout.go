package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/value"
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
	Versions       = "versions"
	Webhooks       = "webhooks"
)

// Subjects, or what they begin with.
const (
	OurSubjects = "svc." // all subjects except those of buckets begin with it

	EventPrefix      = sluice.EventPrefix // before the key of an event
	MessagePrefix    = "svc.message."     // before the key of a message that is no event
	DirectPrefix     = "svc.direct."      // before the binding of the one pipeline an event is for
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

// How large messages may be, in bytes. The engine refuses a larger one however often it is
// tried, and with it the batch that it is in. So whoever makes a message keeps to the bound
// of its kind, and writers refuse the rest before it joins a batch:
//
//	event              MaxEvent    the call is refused: payload-too-large
//	waiting event      MaxData     the event keeps its place with the consumer
//	spooled call       MaxData     can't be: an event and less than 64 KiB
//	outcome            MaxData     the value is at most 4 MiB, what is said of a failure is cut
//	dead letter        MaxData     the event is left out: eventCut
//	line of a journal  MaxLine     what a run sent and got is left out: cut
//	quarantined call   MaxData     can't be: a body of 4 MiB in base64, and its headers
//	record, audit      MaxData     the change is refused: message-too-large
const (
	// MaxMessage is what the engine takes, with headers: a payload of 4 MiB is 5.6 MB
	// in base64, plus its headers.
	MaxMessage = 8 << 20
	// MaxData is what a message may have besides the headers that writers add.
	MaxData = MaxMessage - 4<<10
	// MaxEvent leaves room for what a dead letter, the waiting room and a spool write
	// before an event.
	MaxEvent = MaxMessage - 64<<10
	// MaxLine is how long a line of the journal may be: it may follow 512 KiB of others.
	MaxLine = 4 << 20
	// maxSaid is how much is kept of what is said of a failure. Escapes may make it six
	// times as long.
	maxSaid = 4 << 10
)

// Fits refuses a message that can never be stored.
func Fits(what string, size int) error {
	if size <= MaxData {
		return nil
	}
	return sluice.Errorf(sluice.CodeMessageTooLarge, "%s has %d bytes, more than the %d that can be stored; make it smaller, or split it.", what, size, MaxData)
}

// CutProblem returns what is said of a failure, cut where it is long.
func CutProblem(p sluice.Problem) sluice.Problem {
	for _, text := range []*string{&p.Detail, &p.Snippet, &p.Step, &p.Parameter} {
		*text = CutText(*text)
	}
	if errors, err := value.Marshal(p.Errors); err != nil || len(errors) > maxSaid {
		p.Errors = nil
	}
	return p
}

// CutText cuts a long text, and marks where.
func CutText(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	end := maxSaid
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (cut)"
}

const (
	// Bounds of one look for a stream, and of one attempt to make it. When nodes make
	// the same stream at the same moment, a cluster may lose a reply though it has made
	// the stream.
	findTimeout   = 2 * time.Second
	createTimeout = 2500 * time.Millisecond
	createPause   = 300 * time.Millisecond
)

// OpenStream returns the stream of a configuration. It makes the stream if it is missing,
// and updates one that is configured otherwise.
func (h *Host) OpenStream(ctx context.Context, js jetstream.JetStream, config jetstream.StreamConfig) (found jetstream.Stream, err error) {
	err = h.open(ctx, "the stream "+config.Name, func(ctx context.Context) (err error) {
		found, err = js.Stream(ctx, config.Name)
		if err == nil && !fits(found.CachedInfo().Config, config) {
			found, err = js.UpdateStream(ctx, config)
		}
		return err
	}, func(ctx context.Context) (err error) {
		found, err = js.CreateStream(ctx, config)
		return err
	})
	return opener{found, h}, err
}

// OpenBucket does with a bucket what OpenStream does with a stream.
func (h *Host) OpenBucket(ctx context.Context, name string, history int) (found jetstream.KeyValue, err error) {
	config := jetstream.KeyValueConfig{Bucket: name, Replicas: max(1, h.Replicas), History: uint8(history)}
	err = h.open(ctx, "the bucket "+name, func(ctx context.Context) (err error) {
		if found, err = h.JS.KeyValue(ctx, name); err != nil {
			return err
		}
		status, err := found.Status(ctx)
		if err != nil {
			return err
		}
		if status.History() != int64(history) || status.Config().Replicas != config.Replicas {
			found, err = h.JS.UpdateKeyValue(ctx, config)
		}
		return err
	}, func(ctx context.Context) (err error) {
		found, err = h.JS.CreateKeyValue(ctx, config)
		return err
	})
	return found, err
}

// open finds something or makes it, and tries again while the engine does not reply and ctx
// lasts.
func (h *Host) open(ctx context.Context, what string, find, create func(context.Context) error) error {
	within := func(d time.Duration, do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, h.Patience(d))
		defer cancel()
		return do(ctx)
	}
	return h.Insist(ctx, what, func(ctx context.Context) error {
		err := within(findTimeout, find)
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
			err = within(createTimeout, create)
		}
		return err
	})
}

// Insist does something until the engine replies or ctx ends. Each attempt needs a bound of
// its own.
func (h *Host) Insist(ctx context.Context, what string, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if !h.engine.passing(what, err) || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		h.SetProblem("the engine is being set up; it has not answered yet about " + what)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(rand.N(createPause)):
		}
	}
}

// fits reports whether a stream has the configuration that is wanted. Limits that are not
// set are the engine's choice.
func fits(has, want jetstream.StreamConfig) bool {
	limit := func(has, want int64) bool { return has == want || want == 0 && has <= 0 }
	return slices.Equal(has.Subjects, want.Subjects) && has.MaxAge == want.MaxAge && has.Replicas == want.Replicas &&
		limit(has.MaxBytes, want.MaxBytes) && limit(has.MaxMsgs, want.MaxMsgs) && limit(has.MaxMsgsPerSubject, want.MaxMsgsPerSubject) &&
		has.Discard == want.Discard && has.AllowDirect == want.AllowDirect && has.AllowAtomicPublish == want.AllowAtomicPublish && has.Duplicates == want.Duplicates
}
