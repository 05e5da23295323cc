// Package manifest keeps what a server is configured with as files: webhooks,
// pipelines, roles and clients, each in a file named after it. It writes such
// files, compares them with a server, and makes the server as they say.
//
// Files never have tokens or the values of secrets. Tokens can be kept in a file elsewhere. Calls, users and built-in roles
// are not configured in this way, and are left alone.
package manifest
