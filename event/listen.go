package event

import (
	"context"

	"sluice"
	"sluice/command"
)

type listenParams struct {
	EventKey string   `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Type     []string `json:"type" doc:"Only events of this kind, or of these, such as push or [invoice.paid, charge.*]; * at its end stands for the rest."`
	Where    string   `json:"where" doc:"Only events for which this expression over body, the event, is neither false nor null, such as '#{body.payload.ref == \"refs/heads/main\"}'."`
}

// listenCommand declares what starts a pipeline. As its first step it is never run:
// the event is already the body.
func listenCommand() command.Command {
	return command.New("event.listen", "Start the pipeline with each event of that key; the event is the body.",
		func(context.Context, listenParams) (any, error) { return nil, startsPipelines("event.listen") },
		command.Trigger)
}

type messageReceiveParams struct {
	Key   string `json:"key" required:"true" names:"new message" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Where string `json:"where" doc:"Only messages for which this expression over body, the message, is neither false nor null."`
}

func messageReceiveCommand() command.Command {
	return command.New("message.receive", "Start the pipeline with each message of that key; the message is the "+
		"body. Events have the key svc.event. followed by their own.",
		func(context.Context, messageReceiveParams) (any, error) {
			return nil, startsPipelines("message.receive")
		}, command.Trigger)
}

func startsPipelines(name string) error {
	return sluice.CodeNotInAPipeline.Errorf("%s is the first step of a pipeline, which it starts; it does "+
		"nothing by itself. To get an event, call event.receive.", name)
}
