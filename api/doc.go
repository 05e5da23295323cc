// Package api serves /api/v3: it calls commands over HTTP, answers polls for
// results, turns errors into problem documents, and describes itself as
// OpenAPI.
//
// What a command does is in the command's package; this one knows only its
// declaration.
package api
