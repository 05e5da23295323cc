// Package client talks to a server over HTTP, and keeps a person's logins. The
// command line is built on it, and knows no other way to a server. It asks the
// server which commands there are, so that it can call those of newer servers,
// too.
package client
