package main

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/serve"
)

// TestDestinations: the pipelines that tell alerts send what each destination takes.
func TestDestinations(t *testing.T) {
	const message = "lead has dead letters: http-status 503 from <!channel> & co; 2 dead letters, since 02:14 UTC."
	const sentence = "🔴 " + message
	const more = "title: lead has dead letters, url: 'https://hooks.example/deadletters?pipeline=lead', message: '" + message + "'"
	for _, destination := range []string{"slack", "teams", "webhook", "mail"} {
		want := map[string]string{
			"slack":   `http.request: {url: '#{secret("chat")}', body: {text: '🔴 lead has dead letters: http-status 503 from &lt;!channel&gt; &amp; co; 2 dead letters, since 02:14 UTC. <https://hooks.example/deadletters?pipeline=lead|Look at it>'}}`,
			"teams":   `http.request: {body: {attachments: [{content: {body: [{text: '🔴 lead has dead letters', type: TextBlock, weight: Bolder, wrap: true}, {text: '` + message + `', type: TextBlock, wrap: true}], actions: [{type: Action.OpenUrl, title: Look at it, url: 'https://hooks.example/deadletters?pipeline=lead'}], type: AdaptiveCard, version: '1.4'}, contentType: application/vnd.microsoft.card.adaptive}], type: message}}`,
			"webhook": `http.request: {method: POST, body: {state: raised, kind: dead-letters, subject: lead, ` + more + `}}`,
			"mail":    `mail.send: {to: ops@example.com, subject: 🔴 lead has dead letters, text: "` + sentence + `\n\nhttps://hooks.example/deadletters?pipeline=lead"}`,
		}[destination]
		address, command := "ops@example.com", "mail.send"
		if destination != "mail" {
			address, command = `#{secret("chat")}`, "http.request"
			want = strings.Replace(want, `url: '#{secret("chat")}', `, "", 1)
		}
		source := alertPipeline(destination, "admin", address) + `tests:
- name: an alert
  secrets: {chat: 'https://example.com/chat'}
  event: {payload: {state: raised, kind: dead-letters, subject: lead, ` + more + `}}
  stub: {` + command + `: {statusCode: 200, headers: {}, body: ok}}
  expect: {calls: [` + want + `]}
`
		done, err := serve.Offline(t.Context(), "pipeline.test", source)
		if err != nil {
			t.Fatalf("%s: %v\n%s", destination, err, source)
		}
		text, _ := json.Marshal(done)
		var report struct{ Passed, Failed int }
		if json.Unmarshal(text, &report) != nil || report.Passed != 1 || report.Failed != 0 {
			t.Errorf("%s: %s", destination, text)
		}
	}
}
