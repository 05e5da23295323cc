package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func toText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSecretsInPipelines: secrets reach those they are for, and whatever a
// pipeline does with them, no result, error, log or letter shows them.
func TestSecretsInPipelines(t *testing.T) {
	t.Parallel()
	const secret = `top "secret" 7/+ü`
	o := newOutside(t)
	o.answer = func(w http.ResponseWriter, r *http.Request) { // as some systems do, it repeats what it was sent
		w.Header().Set("X-Echo", r.Header.Get("X-Key"))
		_, _ = w.Write([]byte("you said " + r.Header.Get("X-Key")))
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	put := s.command("secret.put", map[string]any{"name": "key", "value": secret}).wantStatus(t, 200)
	hook := s.create("webhook.secret")
	seen := []string{string(put.body), string(s.command("secret.get", nil).wantStatus(t, 200).body)}
	do := func(steps ...string) string {
		t.Helper()
		s.store("uses", listening("webhook.secret", steps...))
		seen = append(seen, string(s.call(hook, "text/plain", "").wantStatus(t, 200).body))
		return seen[len(seen)-1]
	}
	use := `#{secret('key')}`

	if got := do("http.request: {url: '" + o.url + "', headers: {x-key: \"" + use + "\"}}"); !strings.Contains(got, `"body":"you said ***"`) {
		t.Errorf("the result is %s, want *** in place of the secret", got)
	}
	if call := o.next(); call.header.Get("X-Key") != secret {
		t.Errorf("the system outside got %q", call.header.Get("X-Key"))
	}
	for _, steps := range [][]string{
		{`set: {value: "` + use + `"}`},
		{`set: {value: {"` + use + `": ["a` + use + `b"]}}`},
		{`set: {value: "#{toBase64(secret('key'))}"}`},
		{`set: {value: "#{toJSON(secret('key'))}"}`},
		{`fail: {message: "no ` + use + `"}`},
		{`assert: {true: false, message: "` + use + `"}`},
		{`log: {message: "line ` + use + `"}`},
		{`set: {value: "` + use + `"}`, `log`},
		{`exit: {value: "` + use + `"}`},
		{`http.request: {url: "http://#{toBase64(secret('key'))}.invalid"}`},
		{`http.request: {url: "` + use + `"}`},
		{`http.request: {url: "` + o.url + `", headers: {"` + use + `": x}}`},
		{`convert.fromJson: {input: "` + use + `"}`},
		{`set: {value: "#{int(secret('key'))}"}`},
		{`event.receive: {eventKey: "` + use + `"}`},
		{`webhook.get: {uuid: "` + use + `"}`},
		{`pipeline.run: {source: "pipeline: [` + use + `"}`},
		{`iam.run.as: {username: "` + use + `"}`},
		{`fail: {message: "` + use + `", onError: ignore}`, `set: {value: "#{vars.error}"}`},
	} {
		do(steps...)
	}
	letters := s.command("deadletter.get", map[string]any{"limit": 1000}).wantStatus(t, 200)
	seen = append(seen, string(letters.body))
	seen = append(seen, string(s.command("audit.get", map[string]any{"limit": 1000}).wantStatus(t, 200).body))
	if strings.Count(string(letters.body), `"letter"`) < 5 {
		t.Errorf("there are too few failures for this test: %s", letters.body)
	}
	secrets := map[string]string{"secret": secret, "escaped secret": `top \"secret\"`}
	for _, text := range seen {
		if found := secretsIn(text, secrets); found != nil {
			t.Errorf("this shows the %v: %s", found, text)
		}
	}
	if !strings.Contains(s.log.String(), "line ***") {
		t.Error("the log lacks the line that was to be logged")
	}
	for stream, messages := range s.messages() {
		for _, message := range messages {
			if found := secretsIn(string(message.data), secrets); found != nil {
				t.Errorf("a message of %s has the %v in it: %s", stream, found, message.data)
			}
		}
	}
	for line := range strings.Lines(s.log.String()) {
		if found := secretsIn(line, secrets); found != nil {
			t.Errorf("a line of the log has the %v in it: %s", found, line)
		}
	}

	s.resume()
	do("http.request: {url: '" + o.url + "/restarted', headers: {x-key: \"" + use + "\"}}")
	for call := o.next(); call.path != "/restarted"; call = o.next() {
		if call.path == "/restarted" && call.header.Get("X-Key") != secret {
			t.Errorf("after a restart the system outside got %q", call.header.Get("X-Key"))
		}
	}
}

// TestWhoMayUseSecrets: the owner of the pipeline needs the permission.
func TestWhoMayUseSecrets(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.command("secret.put", map[string]any{"name": "key", "value": "the value of it"}).wantStatus(t, 200)
	hook := s.create("webhook.uses")
	source := `pipeline: [event.listen: {eventKey: webhook.uses}, set: {value: "#{len(secret('key'))}"}]`
	s.put("uses", source, s.user("without", "pipeline.put", "event.listen", "secret.put"), forced).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Status != "error" || !strings.Contains(s.cause(t, got)["detail"].(string), "permission secret.use") {
		t.Errorf("without the permission it came to %+v", got)
	}
	s.put("uses", source, s.user("with", "pipeline.put", "event.listen", "secret.use")).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Value != 15.0 {
		t.Errorf("it came to %+v", got)
	}
	s.command("secret.delete", map[string]any{"name": "key", "force": true}).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Status != "error" || !strings.Contains(s.cause(t, got)["detail"].(string), `no secret "key"`) {
		t.Errorf("without the secret it came to %+v", got)
	}
}

// TestWhoUsesASecret: webhooks that are signed with it, and pipelines that name it
// anywhere in their source. It is not deleted from under them by accident.
func TestWhoUsesASecret(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"key", "other"} {
		s.command("secret.put", map[string]any{"name": name, "value": "the value of it"}).wantStatus(t, 200)
	}
	s.create("webhook.one", "provider", "github", "signingSecret", "secret:other, secret:key")
	s.create("webhook.two", "provider", "github", "signingSecret", "secret:other")
	for name, source := range map[string]string{
		"argument": `pipeline: [set: {value: {deep: ["a #{secret('key')}"]}}]`,
		"variable": `{vars: {x: "#{secret('key')}"}, pipeline: [log]}`,
		"within":   `pipeline: [foreach: {in: "#{[1]}", do: [if: {true: "#{secret('key') != ''}", then: [log]}]}]`,
		"signed":   `pipeline: [http.forward: {url: "https://example.com", sign: key}]`,
		"lent":     `pipeline: [http.request: {url: "https://example.com", auth: {basic: key}}]`,
		"neither":  `pipeline: [set: {value: "#{secret('other')} key"}]`,
	} {
		s.store(name, source)
	}
	shown := s.command("secret.get", map[string]any{"name": "key"}).wantStatus(t, 200).object(t)
	if got := toText(t, shown["usedBy"]); got != `{"pipelines":["argument","lent","signed","variable","within"],"webhooks":["webhook.one"]}` {
		t.Errorf("it is used by %s", got)
	}
	const users = `The secret "key" is used by the webhook webhook.one, and by the pipelines argument, lent, signed and 2 more.`
	if problem := s.command("secret.delete", map[string]any{"name": "key"}).wantProblem(t, 409, "secret-in-use"); !strings.HasPrefix(problem["detail"].(string), users) {
		t.Errorf("it is refused with %v", problem)
	}
	s.command("secret.get", map[string]any{"name": "key"}).wantStatus(t, 200)
	s.command("secret.delete", map[string]any{"name": "key", "force": true}).wantStatus(t, 200)
	s.command("secret.delete", map[string]any{"name": "key"}).wantProblem(t, 404, "secret-unknown") // though it is still named
}
