// Package event has the commands about events and messages: listen, get,
// receive, send and replay. Package jetstream stores the events; package
// pipeline starts the pipelines that listen.
package event
