// Package event has the commands about events and messages: listen, get,
// receive, send and replay. Package jetstream stores the events; package
// pipeline starts the pipelines that listen.
package event

import (
	"context"

	"sluice"
	"sluice/command"
)

// Options are what the commands need.
type Options struct {
	Events     sluice.Events
	Stored     sluice.StoredEvents
	Log        sluice.EventLog
	Journal    sluice.Journal
	Waiting    sluice.WaitingEvents
	Work       sluice.Work // what waiting events wait for
	Quarantine sluice.QuarantineStore
	Erasures   sluice.Erasures
	Note       func(context.Context, sluice.AuditEntry) // enters something in the audit log
	Namespace  string
	Seen       func(ctx context.Context, command, target string) // called when a user sees payloads
	// closed when the server begins to stop, which ends all waiting
	Stopping <-chan struct{}
}

// Commands returns the commands about events and messages.
func Commands(o Options) []command.Command {
	return []command.Command{
		getCommand(o),
		listenCommand(),
		receiveCommand(o),
		sendCommand(o.Events, o.Namespace),
		replayCommand(o),
		retryCommand(o.Waiting),
		eraseCommand(o),
		erasuresCommand(o),
		messageReceiveCommand(),
		messageSendCommand(o.Events, o.Namespace),
	}
}

func checkKey(parameter, key string) error {
	if sluice.ValidKey(key) {
		return nil
	}
	return sluice.InvalidParameter(parameter, "The parameter %s must be %s.", parameter, sluice.KeyRule)
}
