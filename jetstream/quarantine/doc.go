// Package quarantine keeps refused calls for some time: store.go has their stream,
// known.go what is known of them in memory, their order, and which of them are
// removed for others.
//
// The packages webhook and quarantine decide which calls are kept, and what users
// can do with them.
package quarantine
