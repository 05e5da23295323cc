// Package sluice is the vocabulary of the service: webhooks, events, results,
// users and errors, and the small interfaces between the packages that store,
// receive and answer them.
//
// It imports the standard library and package value only. Package jetstream
// implements the interfaces; webhook, iam and api use them; serve joins them.
package sluice

import "embed"

// Documents are the pages for people, which agents can read, too.
//
//go:embed docs/*.md docs/reference/*.md
var Documents embed.FS
