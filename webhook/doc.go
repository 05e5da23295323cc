// Package webhook has the commands that manage webhooks (webhook.put, .get,
// .delete) and the one that outside systems call (webhook.receive): a request
// comes in, an event goes out.
//
// It knows HTTP, tokens, payloads and multipart bodies, and by which rules
// webhooks are stored (store.go). Package jetstream stores them and events,
// package api writes errors.
package webhook
