package webhooks

import (
	"slices"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// addTestCall proposes a test call: the sample of the sender that was asked for, or the
// first one. A call that was just sent stays.
func (v *webhookView) addTestCall(name string) {
	if v.Media == "" {
		v.Payload, v.Media = `{"name": "Ada", "budget": 12000}`, "application/json"
		if v.Sender != nil {
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
