package event

import (
	"context"

	"sluice"
	"sluice/command"
)

// Options are what the commands need.
type Options struct {
	Events    sluice.Events
	Stored    sluice.StoredEvents
	Log       sluice.EventLog
	Journal   sluice.Journal
	Namespace string
	Seen      func(ctx context.Context, command, target string) // called when a user sees payloads
	Stopping  <-chan struct{}                                   // closed when the server begins to stop, which ends all waiting
}

// Commands returns the commands about events and messages.
func Commands(o Options) []command.Command {
	return []command.Command{
		getCommand(o),
		listenCommand(),
		receiveCommand(o),
		sendCommand(o.Events, o.Namespace),
		replayCommand(o.Events, o.Journal),
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
