// Package durable makes files survive a power cut: the data folder with its lock
// and its format, files that are written as a whole or not at all, and the
// message blocks of the embedded engine, whose syncs many writers share.
//
// It imports none of our packages, and knows files but not what is in them.
// Package jetstream decides what is synced when, and stops for good when a sync
// fails.
package durable
