package serve_test

import (
	"net/http"
	"testing"

	"sluice"
)

// TestFiguresOfATeam: a role with a scope sees the figures of what it covers, and of the server nothing.
func TestFiguresOfATeam(t *testing.T) {
	t.Parallel()
	s := start(t)
	var partner hook
	for _, team := range []string{"shop", "partner"} {
		partner = s.create("webhook."+team+".order", "payloadType", "raw")
		s.store(team+".forward", listening("webhook."+team+".order", "assert: {true: '#{body.payload == \"good\"}'}"))
		s.call(partner, "text/plain", "bad").wantStatus(t, 200)
	}
	s.command("iam.role.put", map[string]any{"role": "team", "like": "developer", "scope": []string{"partner"}}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "correct horse battery", "roles": []string{"team"}}).wantStatus(t, 200)
	ada := func(r *http.Request) { r.SetBasicAuth("ada", "correct horse battery") }
	var runs sluice.PipelineRuns
	eventually(t, "the failed run", func() bool {
		s.command("pipeline.stats", nil, ada).wantStatus(t, 200).into(t, &runs)
		return len(runs.Pipelines) == 1 && runs.Pipelines[0].DeadLetters == 1 && runs.Runs == 1
	})
	if p := runs.Pipelines[0]; p.Pipeline != "partner.forward" || p.Failing == nil || p.Cause != "assertion-failed in line 4" || runs.Errors != 1 || len(runs.Hours) != 24 {
		t.Errorf("the pipelines are %+v", runs)
	}
	s.command("pipeline.stats", map[string]any{"name": "shop.forward"}, ada).wantStatus(t, 200).into(t, &runs)
	if runs.Runs != 0 || len(runs.Pipelines) != 0 {
		t.Errorf("of another team it sees %+v", runs)
	}
	s.command("pipeline.stats", nil).wantStatus(t, 200).into(t, &runs)
	if runs.Runs != 2 || len(runs.Pipelines) != 2 {
		t.Errorf("an administrator sees %+v", runs)
	}
	s.command("deadletter.delete", map[string]any{"pipeline": "partner.forward"}, ada).wantStatus(t, 200)
	s.call(partner, "text/plain", "good").wantStatus(t, 200)
	eventually(t, "the end of the failure, with its cause", func() bool {
		runs = sluice.PipelineRuns{}
		s.command("pipeline.stats", nil, ada).wantStatus(t, 200).into(t, &runs)
		return runs.Runs == 2 && runs.Pipelines[0].Failing == nil && runs.Pipelines[0].Cause == ""
	})
	var hooks []sluice.WebhookStats
	s.command("webhook.stats", map[string]any{"figures": true, "hours": 2}, ada).wantStatus(t, 200).into(t, &hooks)
	if len(hooks) != 1 || hooks[0].EventKey != "webhook.partner.order" || len(hooks[0].Figures) != 2 || hooks[0].Figures[1].Accepted+hooks[0].Figures[0].Accepted != 2 {
		t.Errorf("the webhooks are %+v", hooks)
	}
	for _, command := range []string{"server.stats", "server.settings", "server.info"} {
		s.command(command, nil, ada).wantStatus(t, 403)
	}
}

// TestFiguresOfASharedWebhook: a call is tried again as long as a pipeline that a team can't see does so.
func TestFiguresOfASharedWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.partner.order", "payloadType", "raw")
	s.command("iam.role.put", map[string]any{"role": "team", "like": "developer", "scope": []string{"partner"}}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "correct horse battery", "roles": []string{"team"}}).wantStatus(t, 200)
	s.store("billing", "retry: {times: 9, backoff: 1h}\n"+listening("webhook.partner.order", "fail: {message: down, statusCode: 503}"))
	s.put("partner.check", "pipeline:\n- event.listen: {eventKey: webhook.partner.order}\n- fail: {message: no, statusCode: 400}",
		func(r *http.Request) { r.SetBasicAuth("ada", "correct horse battery") }).wantStatus(t, 200)
	s.call(hook, "text/plain", "x").wantStatus(t, 200)
	eventually(t, "the call that is tried again", func() bool {
		var letters sluice.List[sluice.DeadLetter]
		s.command("deadletter.get", nil).wantStatus(t, 200).into(t, &letters)
		var hooks []sluice.WebhookStats
		s.command("webhook.stats", nil).wantStatus(t, 200).into(t, &hooks)
		return len(letters.Items) == 1 && len(hooks) == 1 && hooks[0].CallFigures == sluice.CallFigures{Accepted: 1, Retrying: 1}
	})
}

// TestSettingsInEffect: administrators see them, with defaults and without secrets.
func TestSettingsInEffect(t *testing.T) {
	t.Parallel()
	s := start(t, "smtp-url=smtps://ops:hunter2@mail.example.org", "mail-from=a@example.org", "event-max-age=48h")
	var values map[string]string
	s.command("server.settings", nil).wantStatus(t, 200).into(t, &values)
	for name, want := range map[string]string{
		"smtp-url": "(set)", "mail-from": "a@example.org", "event-max-age": "48h", "auth-client-secret": "",
	} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "correct horse battery", "roles": []string{"developer"}}).wantStatus(t, 200)
	s.command("server.settings", nil, func(r *http.Request) { r.SetBasicAuth("dev", "correct horse battery") }).wantStatus(t, 403)
}
