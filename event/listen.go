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

type messageReceiveParams struct {
	Key   string `json:"key" required:"true" names:"new message" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	Where string `json:"where" doc:"Only messages for which this expression over body, the message, is neither false nor null."`
}

// starts declares what starts a pipeline. As its first step it is never run: the event is already the body.
func starts[P any](name, summary string) command.Command {
	return command.New(name, summary, func(context.Context, P) (any, error) {
		return nil, sluice.CodeNotInAPipeline.Errorf("%s is the first step of a pipeline, which it starts; it does "+
			"nothing by itself. To get an event, call event.receive.", name)
	}, command.Trigger)
}
