// Package jetstream is the storage engine: NATS JetStream, embedded in the process
// or on an external server or cluster. It implements the root package's interfaces
// for what is stored.
//
// An Engine (engine.go) chooses its backend once, embedded (embedded.go) or external
// (external.go), builds the parts, each with the others it needs, and gives
// access to them (stores.go). An event goes one way: the spool, if there is one, takes
// it while the engine is away; delivery finds out whether it was accepted before; and
// Events (events.go and event_*.go) stores it in one stream, where it is read in order
// (event_log.go), trimmed when space runs out (event_trim.go), and asked for its result
// (event_results.go). On the embedded engine nothing is answered before it is synced to
// disk; on an external one durability is the cluster's.
//
// The way down:
//
//   - queue hands stored events to pipelines and keeps what came of them;
//   - record stores records by key, such as accounts and webhooks;
//   - correlation has the ids that find their event;
//   - spool takes calls while an external engine is away;
//   - delivery makes one event of a delivery that is repeated;
//   - stream is what all streams have in common, such as their names (layout.go) and the
//     group commit;
//   - package journal, beside this one, searches calls;
//   - package durable makes files survive a power cut.
//
// Rules about what is stored belong to the packages that store it.
package jetstream
