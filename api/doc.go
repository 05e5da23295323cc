// Package api serves /api/v3: it calls commands over HTTP, answers polls for
// results, turns errors into problem documents, and describes itself as
// OpenAPI.
//
// What a command does is in the command's room; this package knows only what
// its declaration says.
package api
