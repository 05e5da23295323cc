// Package jetstream implements the root package's interfaces on NATS
// JetStream, embedded in the process or on an external server or cluster.
//
// An Engine owns the connection. Events are one stream; webhooks and accounts
// are key-value buckets, each with a copy in memory that follows every change.
// On the embedded engine nothing is answered before it is synced to disk: one
// sync serves all calls that wait for it (group commit, in batch.go and
// blocks.go). On an external engine durability is the cluster's.
package jetstream
