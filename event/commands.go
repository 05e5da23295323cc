package event

import (
	"sluice"
	"sluice/command"
)

// Commands gives the commands about events and messages. draining tells whether
// the server stops: then none waits any longer.
func Commands(events sluice.Events, stored sluice.StoredEvents, log sluice.EventLog, namespace string, draining func() bool) []command.Command {
	return []command.Command{
		getCommand(log, draining),
		listenCommand(),
		receiveCommand(stored),
		sendCommand(events, namespace),
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
