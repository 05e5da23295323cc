package sender

func azureEventGrid() Preset {
	return Preset{
		Name: "azure-event-grid", Title: "Azure Event Grid",
		Checks:         "nothing, since Event Grid does not sign its calls: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Handshake:      "SubscriptionValidationEvent: its code is repeated; OPTIONS: the origin is allowed",
		Dedupe:         "body:0.id",
		Retries:        "24h",
		Setup: [3]string{
			"At the topic: Event Subscription, Endpoint Type Web Hook; Subscriber Endpoint is the webhook's URL.",
			"Leave output batching at one event per call, since only then calls have an id.",
			"With the Cloud Event Schema set `dedupe` to `cloudevent`.",
		},
		greet: func(g greeting) (*Answer, error) {
			if answer := g.originAnswer(); answer != nil {
				return answer, nil
			}
			if g.text("0", "eventType") != "Microsoft.EventGrid.SubscriptionValidationEvent" {
				return nil, nil
			}
			return jsonAnswer([2]string{"validationResponse", g.text("0", "data", "validationCode")}), nil
		},
	}
}
