// Package record stores records of one type by key: accounts, roles, webhooks,
// pipelines, and whatever else is looked up and changed one at a time.
//
// A Bucket is a key-value bucket of the engine with a copy in memory, which
// follows every change on every node. Reads use the copy. A change is decided
// on the copy, written on condition that nothing else was written since, and
// answered once it is on stable storage (docs/decisions/0003).
//
// The engine stores records sealed, under keyed hashes of their keys. All buckets
// that are sealed with one key are a Generation; Generations says which one
// counts, and moves the records to another key (docs/decisions/0015).
//
// The packages that decide changes know what the records mean, and which rules
// hold between them.
package record
