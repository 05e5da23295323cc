// Package record stores records of one type by key: accounts, roles, webhooks,
// pipelines, and whatever else is looked up and changed one at a time.
//
// A Bucket is a key-value bucket of the engine with a copy in memory, which
// follows every change on every node. Reading asks the copy. A change is decided
// on the copy, written on condition that nothing else was written since, and
// answered once it is on stable storage (docs/decisions/0003).
//
// What the records mean, and which rules hold between them, is up to the
// packages that decide changes.
package record
