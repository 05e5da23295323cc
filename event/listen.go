package event

import (
	"context"

	"sluice"
	"sluice/command"
)

type listenParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

// listenCommand declares what starts a pipeline. As its first step it is never run:
// the event is already the body.
func listenCommand() command.Command {
	return command.New("event.listen", "Start the pipeline with each event of that key; the event is the body.",
		func(context.Context, listenParams) (any, error) { return nil, startsPipelines("event.listen") },
		command.Trigger)
}

type messageReceiveParams struct {
	Key string `json:"key" required:"true" names:"new message" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

func messageReceiveCommand() command.Command {
	return command.New("message.receive", "Start the pipeline with each message of that key; the message is the "+
		"body. Events have the key svc.event. followed by their own.",
		func(context.Context, messageReceiveParams) (any, error) {
			return nil, startsPipelines("message.receive")
		}, command.Trigger)
}

func startsPipelines(name string) error {
	return sluice.Errorf(sluice.CodeNotInAPipeline, "%s is the first step of a pipeline, which it starts; it does "+
		"nothing by itself. To get an event, call event.receive.", name)
}
