// Package jetstream is the storage engine: NATS JetStream, embedded in the process
// or on an external server or cluster. It implements the root package's interfaces
// for what is stored.
//
// An Engine (engine.go) starts or connects the server (embedded.go,
// external.go), builds the parts, each with the others it needs, and gives
// access to them (stores.go). Events (events.go and event_*.go) are one stream:
// accepted (events.go), read in order (event_log.go), trimmed when space runs
// out (event_trim.go), and asked for results (event_results.go). On the
// embedded engine nothing is answered before it is synced to disk; on an
// external one durability is the cluster's.
//
// The way down:
//
//   - queue hands stored events to pipelines and keeps what came of them;
//   - record stores records by key, such as accounts and webhooks;
//   - correlation has the ids that find their event;
//   - spool takes calls while an external engine is away (event_spool.go, spool.go);
//   - stream is what all streams have in common, such as the group commit;
//   - package journal, beside this one, searches calls;
//   - package durable makes files survive a power cut.
//
// Rules about what is stored belong to the packages that store it.
package jetstream
