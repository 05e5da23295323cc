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
	Tickings       *record.Bucket[sluice.Ticking]       // of pipelines with a schedule
	Alerts         *record.Bucket[sluice.AlertRecord]
	AlertRules     *record.Bucket[sluice.AlertRule]
	Closed         *record.Bucket[sluice.ClosedRecord]
	Missed         *record.Bucket[sluice.MissedRun]
	Certificates   *record.Bucket[sluice.CertificateRecord]
	Secrets        *record.Bucket[sluice.Secret]

	host      *stream.Host
	forgotten forgottenSet
	keys      *record.Bucket[record.Key]
	all       []bucket       // except that of keys
	budget    *record.Budget // of what users store
}

// makeRecords makes the buckets. Those of what users store share a budget of bytes.
func (r *Records) makeRecords(h *stream.Host, memory int64) {
	r.host, r.budget = h, &record.Budget{Max: memory}
	r.keys = record.New[record.Key](h, stream.Keys)
	addBounded(r, &r.Webhooks, stream.Webhooks)
	addBounded(r, &r.Accounts, stream.Accounts)
	addBounded(r, &r.Roles, stream.Roles)
	addBounded(r, &r.Clients, stream.Clients)
	add(r, &r.Sessions, stream.Sessions)
	add(r, &r.SigningKeys, stream.SigningKeys)
	add(r, &r.PortalSessions, stream.PortalSessions)
	add(r, &r.Minutes, stream.Minutes)
	add(r, &r.Hours, stream.Hours)
	addBounded(r, &r.Pipelines, stream.Pipelines)
	addBounded(r, &r.Versions, stream.Versions)
	add(r, &r.PipelineStates, stream.PipelineStates)
	add(r, &r.Tickings, stream.Tickings)
	add(r, &r.Alerts, stream.Alerts)
	addBounded(r, &r.AlertRules, stream.AlertRules)
	add(r, &r.Closed, stream.Closed)
	add(r, &r.Missed, stream.Missed)
	add(r, &r.Certificates, stream.Certificates)
	addBounded(r, &r.Secrets, stream.Secrets)
	add(r, &r.forgotten.Bucket, stream.Forgotten)
}

func add[T any](r *Records, to **record.Bucket[T], name string) {
	*to = record.New[T](r.host, name)
	r.all = append(r.all, *to)
}

func addBounded[T any](r *Records, to **record.Bucket[T], name string) {
	add(r, to, name)
	(*to).Within(r.budget)
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
