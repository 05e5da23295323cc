package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRightsAreCheckedWhenAPipelineIsStored: what would be refused when it runs
// is refused when it is stored, with the line to add.
func TestRightsAreCheckedWhenAPipelineIsStored(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create("webhook.a")
	s.command("secret.put", map[string]any{"name": "key", "value": "a value"}).wantStatus(t, 200)
	asDev := s.user("dev", "pipeline.*", "event.listen", "iam.run.as", "http.request", "run.as:ada")
	s.user("ada", "webhook.get")
	asSecretive := s.user("secretive", "pipeline.*", "event.listen", "secret.use")
	const listen = "pipeline:\n- event.listen: {eventKey: webhook.a}\n"
	tests := []struct {
		name, source string
		owner        func(*http.Request)
		want         string // line, command, permission and hint of each finding
	}{
		{"harmless", listen + "- set: {value: 1}\n", asDev, ""},
		{"anonymous", listen + "- http.request: {url: 'https://example.com'}\n", asDev, "3 http.request http.request - iam.run.as: {username: dev}"},
		{"as the owner", listen + "- iam.run.as: {username: dev}\n- http.request: {url: 'https://example.com'}\n", asDev, ""},
		{"as another", listen + "- iam.run.as: {username: ada}\n- webhook.get\n- http.request: {url: 'https://example.com'}\n", asDev, "5 http.request http.request - iam.run.as: {username: dev}"},
		{"as who it may not", listen + "- iam.run.as: {username: admin}\n- webhook.get\n", asDev, "3 iam.run.as run.as:admin - iam.run.as: {username: dev}"},
		{"as nobody, asked by who may not know", listen + "- iam.run.as: {username: nobody}\n", asDev, "3 iam.run.as run.as:nobody - iam.run.as: {username: dev}"},
		{"as nobody", listen + "- iam.run.as: {username: nobody}\n", asAdmin, "3 iam.run.as run.as:nobody sluice user create nobody"},
		{"as another, by an administrator", listen + "- iam.run.as: {username: ada}\n- http.request: {url: 'https://example.com'}\n", asAdmin, "4 http.request http.request Give ada a role that may, or let the step run as another user."},
		{"nobody may", listen + "- iam.run.as: {username: dev}\n- secret.get\n", asDev, "4 secret.get secret.get - iam.run.as: {username: a user who may}"},
		{"a secret", listen + "- set: {value: \"#{secret('key')}\"}\n", asDev, "3 set secret.use Ask an administrator for a role that has the permission secret.use."},
		{"a secret of one who may", listen + "- set: {value: \"#{secret('key')}\"}\n", asSecretive, ""},
		{"an unknown secret", listen + "- set: {if: \"#{secret('kez') == ''}\", value: 1}\n", asSecretive, "3 set secret.use "},
		{"an unknown secret that the owner may store", listen + "- set: {value: \"#{secret('kez')}\"}\n", asAdmin, "3 set secret.use sluice secret put kez"},
		{"a secret to sign with", listen + "- iam.run.as: {username: secretive}\n- http.forward: {url: 'https://example.com', sign: key}\nretry: {times: 1}\n", asDev,
			"3 iam.run.as run.as:secretive - iam.run.as: {username: dev}; 4 http.forward secret.use Ask an administrator for a role that has the permission secret.use."},
		{"an unknown secret to sign in with", "pipeline:\n- http.request: {url: 'https://example.com', auth: {certificate: key, oauth2: {url: 'https://example.com', client: kez}}}\n", asSecretive, "2 http.request secret.use "},
		{"a secret to sign in with", "pipeline: [http.forward: {url: 'https://example.com', auth: {bearer: key}}]\n", asDev, "1 http.forward secret.use Ask an administrator for a role that has the permission secret.use."},
		{"an unknown secret to sign with", "pipeline: [http.forward: {url: 'https://example.com', sign: kez}]\n", asSecretive, "1 http.forward secret.use "},
		{"both branches", listen + "- if: {true: '#{true}', then: [webhook.get], else: [server.info]}\n", asDev,
			"3 webhook.get webhook.get - iam.run.as: {username: a user who may}; 3 server.info server.info - iam.run.as: {username: a user who may}"},
		{"perhaps switched", listen + "- iam.run.as: {username: dev, if: '#{true}'}\n- http.request: {url: 'https://example.com'}\n", asDev, ""},
		{"in a loop", listen + "- foreach: {in: [1], do: [webhook.get]}\n", asDev, "3 webhook.get webhook.get - iam.run.as: {username: a user who may}"},
		{"after authorize", listen + "- iam.authorize: {authorization: 'Basic x'}\n- webhook.get\n", asDev, ""},
		{"run by its caller", "pipeline: [webhook.get]\n", asDev, ""},
		{"run by its caller, switching", "pipeline:\n- iam.run.as: {username: admin}\n- webhook.get\n", asDev, "2 iam.run.as run.as:admin - iam.run.as: {username: dev}"},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name, asYAML := fmt.Sprint("checked-", i), header("Content-Type", "application/yaml")
			lint := s.send("POST", "/api/v3/command/pipeline.lint", strings.NewReader(test.source), test.owner, asYAML).wantStatus(t, 200).object(t)
			if got := findings(lint["problems"]); got != test.want || lint["valid"] != (test.want == "") || lint["rightsChecked"] != true {
				t.Errorf("lint finds %q in %v, want %q", got, lint, test.want)
			}
			stored := s.put(name, test.source, test.owner)
			if test.want == "" {
				stored.wantStatus(t, 200)
				return
			}
			problem := stored.wantProblem(t, 422, "pipeline-not-permitted")
			if got := findings(problem["errors"]); got != test.want {
				t.Errorf("storing it finds %q, want %q", got, test.want)
			}
			if warned := s.put(name, test.source, test.owner, forced).wantStatus(t, 200).object(t); findings(warned["warnings"]) != test.want {
				t.Errorf("stored by force it warns of %v, want %q", warned["warnings"], test.want)
			}
		})
	}
}

// TestWhoMayListen: lint tells who may not store a pipeline that listens.
func TestWhoMayListen(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create("webhook.a")
	asDeaf := s.user("deaf", "pipeline.*")
	const source = "pipeline:\n- event.listen: {eventKey: webhook.a}\n- set: {value: 1}\n"
	lint := s.send("POST", "/api/v3/command/pipeline.lint", strings.NewReader(source), asDeaf, header("Content-Type", "application/yaml")).wantStatus(t, 200).object(t)
	want := "2 event.listen event.listen "
	if got := findings(lint["problems"]); got != want || lint["valid"] != false {
		t.Errorf("lint finds %q in %v, want %q", got, lint, want)
	}
	s.put("p", source, asDeaf, forced).wantProblem(t, 403, "forbidden")
}

// findings returns what stands in a list of findings, in one line.
func findings(list any) string {
	var lines []string
	items, _ := list.([]any)
	for _, item := range items {
		f := item.(map[string]any)
		if f["column"].(float64) < 1 || f["message"] == "" {
			return "without a place or a message"
		}
		lines = append(lines, strings.Join([]string{fmt.Sprint(f["line"]), text(f["command"]), text(f["permission"]), text(f["hint"])}, " "))
	}
	return strings.Join(lines, "; ")
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// TestWarningsOfAStoredPipeline: what is no mistake, but worth knowing.
func TestWarningsOfAStoredPipeline(t *testing.T) {
	t.Parallel()
	s := start(t)
	asDev := s.user("dev", "pipeline.*", "event.listen", "iam.run.as")
	codes := func(a answer) string {
		var found []string
		items, _ := a.wantStatus(t, 200).object(t)["warnings"].([]any)
		for _, item := range items {
			found = append(found, item.(map[string]any)["code"].(string))
		}
		return strings.Join(found, " ")
	}
	const source = "pipeline: [event.listen: {eventKey: webhook.later}, iam.run.as: {username: admin}]"
	if got := codes(s.put("p", source, asDev, forced)); got != "not-permitted event-key-unknown" {
		t.Errorf("the developer is warned of %q", got)
	}
	if got := codes(s.put("p", source, asAdmin)); got != "rights-lent event-key-unknown" {
		t.Errorf("the admin who saves it is warned of %q", got)
	}
	s.create("webhook.later")
	if got := codes(s.put("p", source, asAdmin)); got != "" {
		t.Errorf("saved again, it warns of %q", got)
	}
	const tick = "pipeline: [event.listen: {eventKey: sluice.schedule.nightly}]"
	s.store("nightly", "pipeline: [event.listen: {eventKey: webhook.later}]")
	if got := s.put("after", tick, asAdmin); codes(got) != "event-key-unknown" || !strings.Contains(string(got.body), "No pipeline of the name nightly has a schedule.") {
		t.Errorf("without a schedule, the warning is %s", got.body)
	}
	s.store("nightly", "schedule: {cron: '@daily'}\npipeline: [set: {value: 1}]")
	if got := codes(s.put("after", tick, asAdmin)); got != "" {
		t.Errorf("of events of a schedule it warns of %q", got)
	}
}
