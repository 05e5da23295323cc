// Package step has the small built-in steps of pipelines: convert.*, crypto.*,
// set, log, assert, fail, exit, wait, http.request, http.forward and secret.*,
// one command to a file. It also has the store of sealed secrets, and the
// conversions and hashes as functions for expressions.
//
// Package pipeline runs the steps; the root package defines what a run is.
package step
