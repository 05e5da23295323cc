package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPipelinesKeepToTheScopesOfTheirOwners: when they are stored, and when they run; a
// forced one, one that an administrator runs, and one whose owner's scope has changed.
func TestPipelinesKeepToTheScopesOfTheirOwners(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	own, foreign := s.create("webhook.partner.in", "payloadType", "raw"), s.create("webhook.zulu.in", "payloadType", "raw")
	for _, name := range []string{"partner.key", "zulu.key"} {
		s.command("secret.put", map[string]any{"name": name, "value": "the value of " + name}).wantStatus(t, 200)
	}
	asPaula := s.member("paula", "partner", "developer")
	const asMe = "iam.run.as: {username: paula}"
	listen := func(pattern string, steps ...string) string {
		return "pipeline:\n- event.listen: {eventKey: '" + pattern + "'}\n- " + strings.Join(steps, "\n- ") + "\n"
	}
	t.Run("a pattern that reaches further", func(t *testing.T) {
		for _, pattern := range []string{"webhook.#", "webhook.*", "webhook.partners", "webhook.zulu.in", "#"} {
			for _, query := range []string{"", "?force=true"} {
				detail, _ := s.put("partner.greedy"+query, listen(pattern, "set: {value: 1}"), asPaula).wantProblem(t, 403, "forbidden")["detail"].(string)
				if !strings.Contains(detail, pattern) || !strings.Contains(detail, "outside of partner") {
					t.Errorf("%s is refused with %s", pattern, detail)
				}
			}
		}
		s.put("partner.modest", listen("webhook.partner.#", "set: {value: 1}"), asPaula).wantStatus(t, 200)
		s.put("partner.alerts", listen("sluice.alert.#", "set: {value: 1}"), asPaula).wantStatus(t, 200)
	})
	for name, step := range map[string]string{
		"sends":         "event.send: {eventKey: webhook.zulu.in, payload: 1}",
		"sends words":   "message.send: {key: svc.event.webhook.zulu.in, payload: 1}",
		"runs":          "pipeline.run: {name: zulu.job}",
		"uses a secret": "set: {value: \"#{secret('zulu.key')}\"}",
		"signs":         "http.forward: {url: 'https://example.com', sign: zulu.key}",
		"signs in":      "http.request: {url: 'https://example.com', auth: {bearer: zulu.key}}",
		"reads":         "event.receive: {eventKey: webhook.zulu.in}",
		"makes":         "webhook.put: {eventKey: webhook.zulu.new}",
	} {
		t.Run(name, func(t *testing.T) {
			problem := s.put("partner.reach", listen("webhook.partner.in", asMe, step), asPaula).wantProblem(t, 422, "pipeline-not-permitted")
			if text := toText(t, problem["errors"]); !strings.Contains(text, "zulu") || strings.Contains(text, "partner.key") || strings.Contains(text, "secret.put stores") {
				t.Errorf("it is refused with %s", text)
			}
			s.put("partner.reach?force=true", listen("webhook.partner.in", asMe, step), asPaula).wantStatus(t, 200)
			before := len(s.traces("eventKey", "webhook.zulu.in"))
			got := s.call(own, "application/json", "{}").result(t)
			if text := toText(t, got.Value); name != "reads" && got.Status != "error" || strings.Contains(text, "the value of zulu") {
				t.Errorf("it came to %+v", got)
			}
			if after := len(s.traces("eventKey", "webhook.zulu.in")); after != before {
				t.Errorf("%d events reached the other team", after-before)
			}
		})
	}
	t.Run("computed names", func(t *testing.T) {
		s.put("partner.reach", listen("webhook.partner.in", asMe, "event.send: {eventKey: \"#{'webhook.' + body.payload.to}\", payload: 1}"), asPaula).wantStatus(t, 200)
		if got := s.call(own, "application/json", `{"to":"zulu.in"}`).result(t); got.Status != "error" {
			t.Errorf("it came to %+v", got)
		}
		s.put("partner.reach", listen("webhook.partner.in", "set: {value: \"#{secret('partner.key')}\"}"), asPaula).wantStatus(t, 200)
		if got := s.call(own, "application/json", "{}").result(t); got.Status != "ok" {
			t.Errorf("its own secret: %+v", got)
		}
		s.command("pipeline.delete", map[string]any{"name": "partner.reach"}).wantStatus(t, 200)
	})
	t.Run("an administrator runs it", func(t *testing.T) {
		s.store("zulu.job", "pipeline: [set: {value: zulu-made}]")
		s.put("partner.trap?force=true", "pipeline: [event.send: {eventKey: webhook.zulu.in, payload: 1}]", asPaula).wantStatus(t, 200)
		s.send("POST", "/api/v3/pipeline/partner.trap", nil, asAdmin).wantProblem(t, 403, "forbidden")
		s.put("partner.trap?force=true", "pipeline: [pipeline.run: {name: zulu.job}]", asPaula).wantStatus(t, 200)
		s.send("POST", "/api/v3/pipeline/partner.trap", nil, asAdmin).wantProblem(t, 404, "pipeline-unknown")
		s.put("partner.trap?force=true", "pipeline: [pipeline.put: {name: partner.more, input: 'pipeline: [log]'}]", asPaula).wantStatus(t, 200)
		s.send("POST", "/api/v3/pipeline/partner.trap", nil, asAdmin).wantStatus(t, 403)
	})
	t.Run("another scope", func(t *testing.T) {
		s.command("iam.role.put", map[string]any{"role": "paula", "scope": "partner,zulu"}).wantStatus(t, 200)
		s.put("zulu.wide", listen("webhook.zulu.in", "set: {value: heard}"), asPaula).wantStatus(t, 200)
		if got := s.call(foreign, "application/json", "{}").result(t); got.Value != "heard" {
			t.Errorf("within the scope it came to %+v", got)
		}
		s.command("iam.role.put", map[string]any{"role": "paula", "scope": "partner"}).wantStatus(t, 200)
		got := s.call(foreign, "application/json", "{}").result(t)
		if cause := s.cause(t, got); got.Status != "error" || cause["code"] != "forbidden" {
			t.Errorf("outside of it, it came to %+v because of %v", got, cause)
		}
		s.command("pipeline.get", map[string]any{"name": "zulu.wide"}, func(r *http.Request) { asPaula(r) }).wantProblem(t, 404, "pipeline-unknown")
	})
}
