// Package jetstream is the storage engine: NATS JetStream, embedded in the process or on an
// external server or cluster. It implements the root package's interfaces for storage.
//
// An Engine (engine.go) chooses its backend once, embedded (embedded.go) or external
// (external.go), and builds its parts. An event takes one way through them: the spool, if
// there is one, takes it while the engine is away; delivery finds out whether it was
// accepted before; and Events (events.go) stores it in one stream. There it is read in order
// (event_log.go), asked for its result (event_results.go), and removed in the end
// (event_trim.go). The embedded engine answers nothing before it is synced to disk; on an
// external one, durability is up to the cluster.
//
// The packages below:
//
//   - queue hands stored events to pipelines and keeps their outcomes;
//   - record stores records by key, such as accounts and webhooks;
//   - correlation has the ids that find their event;
//   - spool takes calls while an external engine is away;
//   - delivery makes one event of a repeated delivery;
//   - stream has what all streams have in common, such as their names (layout.go) and the
//     group commit;
//   - package journal, beside this one, searches calls;
//   - package durable makes files survive a power cut.
//
// Rules about what is stored belong to the packages that store it.
package jetstream
