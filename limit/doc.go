// Package limit bounds what strangers and users may take: how slowly a body may
// arrive and how much memory bodies take together, how often an address may
// try, how long credentials may be, and how much is remembered. It knows keys,
// sizes and times, not what they stand for.
package limit
