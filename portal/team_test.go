package portal_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestATeamOnOnePage: its form makes a role with a scope and gives it to the members; and
// then no page that they can reach shows anything of others, or has a link that fails.
func TestATeamOnOnePage(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=20s")
	s.command("iam.user.put", map[string]any{"username": "paula", "password": "a long password", "roles": []string{}})
	for _, team := range []string{"partner", "zulu"} {
		s.command("webhook.put", map[string]any{"eventKey": "webhook." + team + ".in", "payloadType": "raw"})
		s.command("webhook.put", map[string]any{"eventKey": "webhook." + team + ".off", "disabled": true})
		s.command("secret.put", map[string]any{"name": team + ".key", "value": "v"})
		s.store(team+".in", "pipeline:\n- event.listen: {eventKey: webhook."+team+".in}\n- fail: {message: "+team+" broke}\n")
	}
	s.store("zulu.all", "pipeline:\n- event.listen: {eventKey: 'webhook.#'}\n- set: {value: zulu-saw}\n")
	for _, key := range []string{"webhook.partner.in", "webhook.zulu.in", "webhook.partner.off", "webhook.zulu.off"} {
		s.call(s.token(key), "application/json", `{"from":"`+key+`"}`)
	}
	admin := s.signedIn("admin", adminPassword)
	admin.get("/roles").wants(t, 200, `href="/teams/new"`)
	admin.get("/teams/new").wants(t, 200, "sees webhook.partner.* and", `value="paula"`, `<option value="developer" selected>`).lacks(t, `<option value="admin"`)
	admin.post("/teams/new", "team", "", "like", "developer").wants(t, 400, "A team needs a name.")
	admin.post("/teams/new", "team", "partner", "scope", "webhook.partner", "like", "developer", "members", "paula").wants(t, 400, `id="field-scope-problem"`, `value="paula" checked`)
	if got := admin.post("/teams/new", "team", "partner", "like", "developer", "members", "", "members", "paula"); got.status != http.StatusSeeOther {
		t.Fatalf("it answered %d: %s", got.status, got.body)
	}
	admin.get("/roles/partner-developer").wants(t, 200, `value="partner"`)
	admin.post("/teams/new", "team", "partner", "like", "developer").wants(t, http.StatusConflict, "partner-developer already")

	v := s.signedIn("paula", "a long password")
	v.get("/").wants(t, 200, "calls went well", "Calls an hour", "Pipelines to look at", `href="/pipelines/partner.in#failure"`, "failing", "Busiest webhooks", "webhook.partner.in", ">ready<").lacks(t, "Free disk", "Time to stable storage")
	v.get("/?span=week").wants(t, 200, "Calls an hour")
	v.get("/pipelines").wants(t, 200, "failing")
	links := regexp.MustCompile(`href="(/[^"#]*)"`)
	seen, queue := map[string]bool{"/": true}, []string{"/"}
	for len(queue) > 0 && len(seen) < 300 {
		path := queue[0]
		queue = queue[1:]
		got := v.get(path)
		if got.status != http.StatusOK {
			t.Errorf("%s, which is linked, answered %d: %.300s", path, got.status, got.body)
		}
		if at := strings.Index(got.body, "zulu"); at >= 0 {
			t.Errorf("%s shows %q", path, got.body[max(0, at-60):at+20])
		}
		for _, link := range links.FindAllStringSubmatch(got.body, -1) {
			to := strings.ReplaceAll(link[1], "&amp;", "&")
			if !seen[to] && !strings.HasPrefix(to, "/static/") && !strings.HasPrefix(to, "/reference") && to != "/openapi.json" {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for _, path := range []string{"/webhooks/webhook.partner.in", "/pipelines/partner.in", "/secrets/partner.key"} {
		if !seen[path] {
			t.Errorf("nothing leads to %s", path)
		}
	}
	for _, path := range []string{"/webhooks/webhook.zulu.in", "/pipelines/zulu.in", "/secrets/zulu.key", "/pipelines/zulu.in/edit"} {
		if got := v.get(path); got.status != http.StatusNotFound {
			t.Errorf("%s answered %d", path, got.status)
		}
	}
	v.get("/me").wants(t, 200, "<code>partner</code>")
}
