// Package client talks to a server over HTTP, and keeps the logins of the
// person it does so for. The command line is made on it, and knows no other way
// to a server. What commands there are, it asks the server: so it also calls
// those of servers that are newer than itself.
package client
