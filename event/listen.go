package event

import (
	"context"

	"sluice/command"
)

type listenParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Body     any    `json:"body" body:"default" doc:"The event, where no event has started the run."`
}

// listenCommand starts a pipeline. What it does as a step is nothing: the event
// is the body by then.
func listenCommand() command.Command {
	return command.New("event.listen", "Start the pipeline with each event of that key; the event is the body.",
		func(_ context.Context, p listenParams) (any, error) { return p.Body, nil }, command.Trigger)
}

type messageReceiveParams struct {
	Key  string `json:"key" required:"true" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Body any    `json:"body" body:"default" doc:"The message, where no message has started the run."`
}

func messageReceiveCommand() command.Command {
	return command.New("message.receive", "Start the pipeline with each message of that key; the message is the body. Events have the key svc.event. followed by their own.",
		func(_ context.Context, p messageReceiveParams) (any, error) { return p.Body, nil }, command.Trigger)
}
