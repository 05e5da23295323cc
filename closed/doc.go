// Package closed keeps the ledger of the times in which no calls were taken. Servers store a
// sign of life every few seconds; where one is missing, a start or a recovery finds a closing.
// server.closed shows them.
package closed
