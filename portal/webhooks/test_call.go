package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// addTestCall proposes a test call: the sample of the sender that was asked for, or the
// first one; otherwise what was sent last, or what the schema describes. A call that was just
// sent stays.
func (v *webhookView) addTestCall(visit *page.Visit) error {
	if v.Media == "" {
		v.Payload, v.Media = `{"name": "Ada", "budget": 12000}`, "application/json"
		if v.Schema != nil {
			v.Payload = exampleOf(v.Schema)
		}
		name := visit.Query("sample")
		switch {
		case v.Sender == nil && len(v.Latest) > 0:
			last, err := calls.Event(visit, v.Latest[0].TraceID)
			if err != nil {
				return err
			}
			if body, media := last.Body(); body != "" {
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
	return nil
}

// exampleOf returns a payload that meets a schema, as far as its types and examples say.
func exampleOf(schema json.RawMessage) string {
	var decoded any
	_ = json.Unmarshal(schema, &decoded) // a stored schema is JSON
	return page.Pretty(example(decoded, 0))
}

// texts are examples of texts, by their formats.
var texts = map[string]string{
	"date-time": "2030-01-31T12:00:00Z", "date": "2030-01-31", "time": "12:00:00Z", "email": "ada@example.com",
	"uri": "https://example.com/", "uuid": "5b0c6f5e-7f0a-4b52-9d0e-3f6f0e4d8a11",
}

func example(schema any, depth int) any {
	const deepest = 8
	of, _ := schema.(map[string]any)
	for _, name := range []string{"const", "default"} {
		if value, has := of[name]; has {
			return value
		}
	}
	for _, name := range []string{"examples", "enum"} {
		if values, _ := of[name].([]any); len(values) > 0 {
			return values[0]
		}
	}
	members, isObject := of["properties"].(map[string]any)
	switch kind := of["type"]; {
	case depth > deepest:
		return nil
	case isObject:
		object := map[string]any{}
		for name, member := range members {
			object[name] = example(member, depth+1)
		}
		return object
	case kind == "array":
		return []any{example(of["items"], depth+1)}
	case kind == "integer" || kind == "number":
		least, _ := of["minimum"].(float64)
		return max(least, 1)
	case kind == "boolean":
		return true
	case kind == "string":
		return cmp.Or(texts[fmt.Sprint(of["format"])], "text")
	}
	return map[string]any{}
}

// webhookTry calls the webhook as an outside system would.
func webhookTry(v *page.Visit, hook sluice.WebhookView) error {
	media, payload, sample := v.Entered("media"), v.Entered("payload"), v.Entered("sample")
	result, err := calls.Send(v, hook, sample, media, payload, nil)
	if err != nil && sluice.AsError(err).Kind != sluice.Invalid {
		return err
	}
	if err != nil {
		result = &calls.Sent{Problem: sluice.AsError(err).Message}
	}
	listening, err := listening(v)
	if err != nil {
		return err
	}
	result.Unheard = len(listenersOf(hook.EventKey, listening)) == 0 && v.May("pipeline.get")
	return renderWebhook(v, webhookView{
		WebhookView: hook, Sample: sample, Payload: payload, Media: media, Result: result,
	})
}
