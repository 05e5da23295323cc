// Package manifest keeps what a server is configured with as files: webhooks,
// pipelines, roles and clients, each in a file named after it. It writes such
// files, compares them with a server, and makes the server as they say.
//
// Tokens and the values of secrets never are in files. Calls, users and built-in
// roles are no configuration of this kind and are left alone. Talking to servers
// is the client's, asking people is cmd/sluice's.
package manifest
