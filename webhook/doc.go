// Package webhook has the commands that manage webhooks (webhook.put, .get,
// .delete) and the one that outside systems call (webhook.receive): a request
// comes in, an event goes out.
//
// It knows HTTP, tokens, payloads and multipart bodies, and by which rules webhooks
// are stored (store.go). Where they and events are stored is package jetstream's
// business, how errors are written package api's.
package webhook
