package jetstream

import (
	"context"
	"slices"

	"sluice"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// Records are what an engine stores by token, name or id.
type Records struct {
	Webhooks       *record.Bucket[sluice.Webhook]
	Accounts       *record.Bucket[sluice.Account]
	Roles          *record.Bucket[sluice.Role]
	Clients        *record.Bucket[sluice.Client]
	Sessions       *record.Bucket[sluice.Session]
	SigningKeys    *record.Bucket[sluice.SigningKey]
	PortalSessions *record.Bucket[sluice.PortalSession]
	Minutes        *record.Bucket[sluice.Minute] // of the last day
	Hours          *record.Bucket[sluice.Minute] // of the last 30 days
	Pipelines      *record.Bucket[sluice.Pipeline]
	Versions       *record.Bucket[sluice.PipelineHistory]
	PipelineStates *record.Bucket[sluice.PipelineState] // which pipelines fail
	Alerts         *record.Bucket[sluice.AlertRecord]
	Closed         *record.Bucket[sluice.ClosedRecord]
	Missed         *record.Bucket[sluice.MissedRun]
	Certificates   *record.Bucket[sluice.CertificateRecord]
	Secrets        *record.Bucket[sluice.Secret]

	forgotten forgottenSet
	keys      *record.Bucket[record.Key]
	all       []bucket       // except that of keys
	budget    *record.Budget // of what users store
}

// newRecords makes the buckets. Those of what users store share a budget of bytes.
func newRecords(h *stream.Host, memory int64) Records {
	r := Records{keys: record.New[record.Key](h, stream.Keys), budget: &record.Budget{Max: memory}}
	r.Webhooks = addBounded[sluice.Webhook](&r, h, stream.Webhooks)
	r.Accounts = addBounded[sluice.Account](&r, h, stream.Accounts)
	r.Roles = addBounded[sluice.Role](&r, h, stream.Roles)
	r.Clients = addBounded[sluice.Client](&r, h, stream.Clients)
	r.Sessions = addBucket[sluice.Session](&r, h, stream.Sessions)
	r.SigningKeys = addBucket[sluice.SigningKey](&r, h, stream.SigningKeys)
	r.PortalSessions = addBucket[sluice.PortalSession](&r, h, stream.PortalSessions)
	r.Minutes = addBucket[sluice.Minute](&r, h, stream.Minutes)
	r.Hours = addBucket[sluice.Minute](&r, h, stream.Hours)
	r.Pipelines = addBounded[sluice.Pipeline](&r, h, stream.Pipelines)
	r.Versions = addBounded[sluice.PipelineHistory](&r, h, stream.Versions)
	r.PipelineStates = addBucket[sluice.PipelineState](&r, h, stream.PipelineStates)
	r.Alerts = addBucket[sluice.AlertRecord](&r, h, stream.Alerts)
	r.Closed = addBucket[sluice.ClosedRecord](&r, h, stream.Closed)
	r.Missed = addBucket[sluice.MissedRun](&r, h, stream.Missed)
	r.Certificates = addBucket[sluice.CertificateRecord](&r, h, stream.Certificates)
	r.Secrets = addBounded[sluice.Secret](&r, h, stream.Secrets)
	r.forgotten = forgottenSet{addBucket[forgotten](&r, h, stream.Forgotten)}
	return r
}

func addBucket[T any](r *Records, h *stream.Host, name string) *record.Bucket[T] {
	b := record.New[T](h, name)
	r.all = append(r.all, b)
	return b
}

func addBounded[T any](r *Records, h *stream.Host, name string) *record.Bucket[T] {
	b := addBucket[T](r, h, name)
	b.Within(r.budget)
	return b
}

// withKeys returns all buckets, and that of keys.
func (r *Records) withKeys() []bucket { return append(slices.Clip(r.all), r.keys) }

// A bucket has records of any type.
type bucket interface {
	Name() string
	StreamName() string
	SetUp(ctx, running context.Context, in record.Generation) error
	Extent(ctx context.Context) (record.Extent, error)
}
