package webhook

import (
	"context"

	"sluice"
	"sluice/command"
)

type putParams struct {
	EventKey         *string             `json:"eventKey" audit:"yes" doc:"Name of the webhook and key that pipelines listen to, such as webhook.lead.created. Unique; required to create."`
	PayloadType      *sluice.PayloadType `json:"payloadType" alias:"payloadHandling" enum:"base64,raw,ignore" doc:"How the payload travels in the event: base64 (default), raw (as the JSON or text it is), or ignore (not at all)."`
	MaxPayloadLength *int                `json:"maxPayloadLength" min:"1" max:"4194304" doc:"Largest accepted payload in bytes. Default 512000."`
	UUID             string              `json:"uuid" audit:"last6" doc:"Token of the webhook to edit. Without it a new webhook is created."`
}

func putCommand(hooks *Store, baseURL string) command.Command {
	return command.New("webhook.put", "Create a webhook, or edit the one with that token: what is not given keeps its value.",
		func(ctx context.Context, p putParams) (view, error) {
			if p.UUID == "" && p.EventKey == nil {
				return view{}, sluice.Errorf(sluice.Invalid, "parameter-missing", "The parameter eventKey is required to create a webhook; to edit one, give its uuid.").About("eventKey")
			}
			var warnings []string
			if p.EventKey != nil {
				var err error
				if warnings, err = checkEventKey(*p.EventKey); err != nil {
					return view{}, err
				}
			}
			hook, err := hooks.put(ctx, canonical(p.UUID), update{p.EventKey, p.PayloadType, p.MaxPayloadLength})
			if err != nil {
				return view{}, err
			}
			shown := show(hook, baseURL, sluice.UserFrom(ctx))
			shown.Warnings = warnings
			return shown, nil
		})
}
