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
	Waiting   sluice.WaitingEvents
	Erasures  sluice.Erasures
	Note      func(context.Context, sluice.AuditEntry) // enters something in the audit log
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

type listenParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

// listenCommand declares what starts a pipeline. As its first step it is never run:
// the event is already the body.
func listenCommand() command.Command {
	return command.New("event.listen", "Start the pipeline with each event of that key; the event is the body.",
		func(context.Context, listenParams) (any, error) { return nil, startsPipelines("event.listen") }, command.Trigger)
}

type messageReceiveParams struct {
	Key string `json:"key" required:"true" names:"new message" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

func messageReceiveCommand() command.Command {
	return command.New("message.receive", "Start the pipeline with each message of that key; the message is the body. Events have the key svc.event. followed by their own.",
		func(context.Context, messageReceiveParams) (any, error) {
			return nil, startsPipelines("message.receive")
		}, command.Trigger)
}

func startsPipelines(name string) error {
	return sluice.Errorf(sluice.CodeNotInAPipeline, "%s is the first step of a pipeline, which it starts; it does nothing by itself. To get an event, call event.receive.", name)
}
