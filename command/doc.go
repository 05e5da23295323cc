// Package command is what a command is: a name, a summary, typed parameters
// and a function. Everything people, pipelines, the command line and the
// portal can do is a command, declared once; the HTTP endpoint, the permission
// name, the reference page and the OpenAPI entry come from that declaration.
//
// The commands themselves live in the packages they are about (webhook, iam,
// …); package api calls them over HTTP.
package command
