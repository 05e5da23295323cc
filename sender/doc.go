// Package sender knows the systems that call webhooks: how each signs its calls, how it
// checks that the receiver wants them (its handshake), where the id of a delivery is, and
// how it is set up.
//
// A known sender is a Preset: a row of a table in presets_*.go, or a file if it needs code of
// its own. Any other is described by a Scheme. Either makes a Verifier, which a webhook keeps. Nothing here
// reads requests, stores anything or talks to the network, except a Fetcher,
// which gets the public keys that senders publish.
//
// Package webhook asks this one before it makes an event of a call.
package sender
