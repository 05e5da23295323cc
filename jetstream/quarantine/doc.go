// Package quarantine keeps the calls that were refused, for some time: store.go
// has the stream that they are in, known.go what is known of them in memory, and
// which of them have to make way for others, place.go their order.
//
// Which calls are kept, and what users do with them, is the business of the
// packages webhook and quarantine.
package quarantine
