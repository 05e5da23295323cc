package event

import (
	"sluice"
	"sluice/command"
)

// Commands gives the commands about events and messages.
func Commands(events sluice.Events, stored sluice.StoredEvents, journal sluice.Journal, namespace string) []command.Command {
	return []command.Command{
		listenCommand(),
		receiveCommand(stored),
		sendCommand(events, namespace),
		replayCommand(events, journal),
		messageReceiveCommand(),
		messageSendCommand(events, namespace),
	}
}

func checkKey(parameter, key string) error {
	if sluice.ValidKey(key) {
		return nil
	}
	e := sluice.Errorf(sluice.Invalid, "parameter-invalid", "The parameter %s must be %s.", parameter, sluice.KeyRule)
	e.Parameter = parameter
	return e
}
