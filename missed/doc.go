// Package missed asks senders what they have sent, and gets what was not accepted here:
// webhook.missed, and missedEvery of a webhook. Each sender is an entry in providers.
package missed
