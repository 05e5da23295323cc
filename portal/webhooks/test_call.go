package webhooks

import (
	"encoding/json"
	"slices"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// addTestCall proposes a test call: the sample of the sender that was asked for, or the
// first one; otherwise what was sent last, or what the schema describes. A call that was just
// sent stays.
func (v *webhookView) addTestCall(visit *page.Visit) {
	if v.Media == "" {
		v.Payload, v.Media = `{"name": "Ada", "budget": 12000}`, "application/json"
		if v.Schema != nil {
			v.Payload = exampleOf(v.Schema)
		}
		name := visit.Query("sample")
		switch {
		case v.Sender == nil && len(v.Latest) > 0:
			if body, media := calls.Event(visit, v.Latest[0].TraceID).Body(); body != "" {
				v.Payload, v.Media = body, media
			}
		case v.Sender != nil:
			for i, s := range v.Sender.Samples {
				if i == 0 || s.Name == name {
					v.Sample, v.Payload, v.Media = s.Name, s.Body, s.ContentType
				}
			}
		}
	}
	v.Medias = []string{"application/json", "text/plain", "application/x-www-form-urlencoded"}
	if !slices.Contains(v.Medias, v.Media) {
		v.Medias = append(v.Medias, v.Media)
	}
}

// exampleOf returns a payload that meets a schema, as far as its types say.
func exampleOf(schema json.RawMessage) string {
	var decoded any
	_ = json.Unmarshal(schema, &decoded) // a stored schema is JSON
	return page.Pretty(example(decoded))
}

func example(schema any) any {
	of, _ := schema.(map[string]any)
	if values, _ := of["enum"].([]any); len(values) > 0 {
		return values[0]
	}
	switch of["type"] {
	case "object":
		object := map[string]any{}
		members, _ := of["properties"].(map[string]any)
		for name, member := range members {
			object[name] = example(member)
		}
		return object
	case "array":
		return []any{example(of["items"])}
	case "integer", "number":
		least, _ := of["minimum"].(float64)
		return max(least, 1)
	case "boolean":
		return true
	}
	return "text"
}

// webhookTry calls the webhook as an outside system would.
func webhookTry(v *page.Visit, hook sluice.WebhookView) error {
	media, payload, sample := v.Entered("media"), v.Entered("payload"), v.Entered("sample")
	result, err := calls.Send(v, hook, sample, media, payload, nil)
	if err != nil && !sluice.Invalid.Is(err) {
		return err
	}
	if err != nil {
		result = &calls.Sent{Problem: sluice.AsError(err).Message}
	}
	result.Unheard = len(listenersOf(hook.EventKey, listening(v))) == 0 && v.May("pipeline.get")
	return renderWebhook(v, webhookView{
		WebhookView: hook, Sample: sample, Payload: payload, Media: media, Result: result,
	})
}
