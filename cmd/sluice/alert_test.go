package main

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/serve"
)

// TestDestinations: the pipelines that tell alerts send what each destination takes.
func TestDestinations(t *testing.T) {
	const sentence = "🔴 dead-letters raised: The pipeline lead has 2 dead letters."
	for _, d := range destinations {
		want := map[string]string{
			"slack":   `http.request: {url: '#{secret("chat")}', body: {text: '` + sentence + `'}}`,
			"teams":   `http.request: {body: {attachments: [{content: {body: [{text: '` + sentence + `', type: TextBlock, wrap: true}], type: AdaptiveCard, version: '1.4'}, contentType: application/vnd.microsoft.card.adaptive}], type: message}}`,
			"webhook": `http.request: {method: POST, body: {state: raised, kind: dead-letters, subject: lead, message: The pipeline lead has 2 dead letters.}}`,
			"mail":    `mail.send: {to: ops@example.com, subject: dead-letters raised lead, text: '` + sentence + `'}`,
		}[d.name]
		address, command := "ops@example.com", "mail.send"
		if d.secret {
			address, command = `#{secret("chat")}`, "http.request"
			want = strings.Replace(want, `url: '#{secret("chat")}', `, "", 1)
		}
		source := d.pipelineOf("admin", address) + `tests:
- name: an alert
  secrets: {chat: 'https://example.com/chat'}
  event: {payload: {state: raised, kind: dead-letters, subject: lead, message: The pipeline lead has 2 dead letters.}}
  stub: {` + command + `: {statusCode: 200, headers: {}, body: ok}}
  expect: {calls: [` + want + `]}
`
		done, err := serve.Offline(t.Context(), "pipeline.test", source)
		if err != nil {
			t.Fatalf("%s: %v\n%s", d.name, err, source)
		}
		text, _ := json.Marshal(done)
		var report struct{ Passed, Failed int }
		if json.Unmarshal(text, &report) != nil || report.Passed != 1 || report.Failed != 0 {
			t.Errorf("%s: %s", d.name, text)
		}
	}
}
