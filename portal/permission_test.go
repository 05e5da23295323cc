package portal_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var forms = regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*action="([^"]+)"`)

// TestViewersSeeNoButtonsThatFail: all that a viewer can click on works, and what
// they are not shown is refused if they send it all the same.
func TestViewersSeeNoButtonsThatFail(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	v := s.signedIn("vera", "a long password")
	links := regexp.MustCompile(`href="(/[^"#]*)"`)
	seen, queue := map[string]bool{}, []string{"/"}
	for len(queue) > 0 && len(seen) < 300 {
		path := queue[0]
		queue = queue[1:]
		got := v.get(path)
		if got.status != http.StatusOK {
			t.Errorf("%s, which is linked, answered %d", path, got.status)
			continue
		}
		for _, form := range forms.FindAllStringSubmatch(got.body, -1) {
			if action := form[1]; !mayPost(action) {
				t.Errorf("%s shows the form %s", path, action)
			}
		}
		for _, link := range links.FindAllStringSubmatch(got.body, -1) {
			to := strings.ReplaceAll(link[1], "&amp;", "&")
			if !seen[to] && !strings.HasPrefix(to, "/static/") && to != "/openapi.json" {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for _, path := range []string{"/webhooks/webhook.lead.created", "/calls/" + live[0], "/pipelines/lead.created", "/deadletters/1"} {
		if !seen[path] {
			t.Errorf("nothing leads to %s", path)
		}
	}
	for _, path := range []string{"/users", "/clients", "/secrets", "/audit"} {
		if seen[path] {
			t.Errorf("a viewer is led to %s", path)
		}
		if got := v.get(path); got.status != http.StatusForbidden {
			t.Errorf("%s answered %d", path, got.status)
		}
	}
	refused := map[string]url.Values{
		"/webhooks/new":                               {"eventKey": {"webhook.x"}},
		"/webhooks/webhook.lead.created/edit":         {"eventKey": {"webhook.x"}},
		"/webhooks/webhook.lead.created/delete":       {},
		"/webhooks/webhook.lead.created/try":          {"payload": {"x"}},
		"/start":                                      {"eventKey": {"webhook.x"}},
		"/pipelines/new":                              {"name": {"x"}, "source": {"pipeline: [log]"}},
		"/pipelines/lead.created/edit":                {"source": {"pipeline: [log]"}},
		"/pipelines/lead.created/delete":              {},
		"/deadletters/1/replay":                       {},
		"/deadletters/1/delete":                       {},
		"/deadletters/selected":                       {"letter": {"1"}, "do": {"delete"}},
		"/deadletters/group":                          {"pipeline": {"lead.created"}, "do": {"replay"}},
		"/calls/replay":                               {"since": {"1h"}},
		"/pipelines/lead.created/pause":               {},
		"/pipelines/lead.created/versions/1/rollback": {},
		"/calls/" + live[0] + "/replay":               {},
		"/calls/" + live[0] + "/edit":                 {"eventKey": {"webhook.lead.created"}, "payload": {"x"}},
		"/calls/selected":                             {"trace": {live[0]}, "do": {"replay"}},
		"/quarantine/selected":                        {"id": {live[3]}, "do": {"admit"}},
		"/quarantine/group":                           {"eventKey": {"webhook.github"}, "do": {"delete"}},
		"/users/new":                                  {"username": {"x"}},
		"/users/vera":                                 {"roles": {"admin"}},
		"/users/dev/delete":                           {},
		"/roles/new":                                  {"role": {"x"}, "permissions": {"*"}},
		"/clients/new":                                {"clientId": {"x"}},
		"/secrets/new":                                {"name": {"x"}, "value": {"x"}},
		"/secrets/crm.password/delete":                {},
		"/commands/webhook.put":                       {"eventKey": {"webhook.x"}},
		"/commands/iam.user.delete":                   {"username": {"dev"}},
	}
	for path, form := range refused {
		if got := v.send("POST", path, form.Encode()); got.status != http.StatusForbidden {
			t.Errorf("POST %s answered %d: %s", path, got.status, got.body)
		}
	}
}

// TestSupport: someone of the support sees what callers sent and repairs what
// failed; tokens, sources and accounts are none of their business.
func TestSupport(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	token := s.token("webhook.lead.created")
	s.command("iam.user.put", map[string]any{"username": "sam", "password": "a long password", "roles": []string{"support"}})
	v := s.signedIn("sam", "a long password")
	v.get("/").wants(t, 200, "/quarantine", "/deadletters").lacks(t, "/users", "/secrets", "/audit", "/clients")
	v.get("/calls/"+live[1]).wants(t, 200, "Bob", ">Replay</button>").lacks(t, "Edit and send again", token)
	v.get("/webhooks/webhook.lead.created").wants(t, 200).lacks(t, token, "/edit", "/delete")
	v.get("/pipelines/order.forward").wants(t, 200, "Latest failure", "Look at it", ">Replay it</button>").lacks(t, "Edit line", "/delete", "/pause")
	v.get("/deadletters").wants(t, 200, "Replay all", "Show it").lacks(t, "Delete all")
	v.get("/deadletters?pipeline=order.forward").wants(t, 200, "Replay all", "Delete all")
	v.get("/quarantine/"+live[3]).wants(t, 200, "Check again and admit", "awesome")
	v.post("/calls/"+live[1]+"/replay").wants(t, 303)
	v.post("/deadletters/1/replay").wants(t, 303)
	v.post("/quarantine/selected", "id", live[3], "do", "force").wants(t, 200, "1 call admitted")
	for _, path := range []string{"/webhooks/new", "/webhooks/webhook.lead.created/delete", "/pipelines/lead.created/delete", "/pipelines/lead.created/pause", "/users/vera/delete", "/secrets/crm.password/delete"} {
		if got := v.post(path, "eventKey", "webhook.x"); got.status != http.StatusForbidden {
			t.Errorf("POST %s answered %d", path, got.status)
		}
	}
}

// mayPost reports whether a form is one that changes nothing, or only oneself.
func mayPost(action string) bool {
	if action == "/signout" || action == "/me" || action == "/calls/selected" || strings.HasSuffix(action, "/test") {
		return true
	}
	name, isCommand := strings.CutPrefix(action, "/commands/")
	if !isCommand {
		return false
	}
	switch {
	case strings.HasSuffix(name, ".get"), strings.HasPrefix(name, "convert."), strings.HasPrefix(name, "crypto."), strings.HasPrefix(name, "server."):
		return true
	}
	switch name {
	case "iam.whoami", "iam.password.set", "pipeline.lint", "pipeline.test", "pipeline.versions":
		return true
	}
	return false
}

// TestTokensAndPayloadsAreHidden: a viewer sees neither.
func TestTokensAndPayloadsAreHidden(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.a", "payloadType": "raw"})
	trace := s.call(hook["uuid"].(string), "text/plain", "very private")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	v := s.signedIn("vera", "a long password")
	token := hook["uuid"].(string)
	v.get("/webhooks").wants(t, 200, "webhook.a").lacks(t, token)
	for _, path := range []string{"/webhooks/webhook.a", "/webhooks/webhook.a?show=token", "/start?key=webhook.a", "/calls/" + trace} {
		v.get(path).wants(t, 200, token[len(token)-6:]).lacks(t, token, "very private")
	}
	v.get("/calls/"+trace).wants(t, 200, "you need the permission").lacks(t, "Correlation id")
	admin := s.signedIn("admin", adminPassword)
	admin.get("/calls/"+trace).wants(t, 200, "very private", "Correlation id")
	admin.get("/webhooks/webhook.a").wants(t, 200, "••••••••-"+token[len(token)-6:])
	shown := regexp.MustCompile(`(?s)<pre[^>]*>.*?</pre>`)
	for _, pre := range shown.FindAllString(admin.get("/webhooks/webhook.a").body, -1) {
		if strings.Contains(pre, token) {
			t.Errorf("the token is on the screen before anyone asks: %s", pre)
		}
	}
	admin.get("/webhooks/webhook.a?show=token").wants(t, 200, "token="+token)
}

// TestExchangesAreShown: what a step has sent and got is on the page of the call;
// a viewer sees where it went and how that ended.
func TestExchangesAreShown(t *testing.T) {
	t.Parallel()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("private answer"))
	}))
	t.Cleanup(outside.Close)
	s := start(t, "http-allow=127.0.0.0/8", untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.a", "payloadType": "raw"})
	s.store("on", "pipeline: [event.listen: {eventKey: webhook.a}, iam.run.as: {username: admin}, http.forward: {url: '"+outside.URL+"/private'}]")
	trace := s.call(hook["uuid"].(string), "text/plain", "private request")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	host := strings.TrimPrefix(outside.URL, "http://")
	s.signedIn("vera", "a long password").get("/calls/"+trace).wants(t, 200, "<code>"+host+"</code>", ">418<").lacks(t, "private")
	s.signedIn("admin", adminPassword).get("/calls/"+trace).wants(t, 200, "<code>"+outside.URL+"/private</code>", ">418<", "private request", "private answer")
}

// TestHostileContentIsText: whatever callers and users come up with stands on
// pages as the text that it is.
func TestHostileContentIsText(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.hostile", "payloadType": "raw"})
	token := hook["uuid"].(string)
	const script = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	traces := []string{
		s.call(token, "application/json", `{"a":"<script>alert(1)</script><img src=x onerror=alert(1)>"}`),
		s.call(token, "text/html", script),
		s.call(token, "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"<script>alert(1)<\\/script>.txt\"\r\nContent-Type: text/html\r\n\r\n"+script+"\r\n--x--\r\n"),
	}
	s.store("hostile", "description: '"+script+"'\npipeline:\n  - event.listen: {eventKey: webhook.hostile}\n  - fail: {message: '#{string(body.payload)}', statusCode: 400}\n")
	failed := s.call(token, "text/plain", script)
	s.command("webhook.put", map[string]any{"uuid": token, "provider": "github", "signingSecret": "a secret of twenty characters", "description": script})
	s.call(token, "text/html", script) // into the quarantine
	v := s.signedIn("admin", adminPassword)
	for _, path := range []string{"/calls/" + failed, "/calls/" + failed + "/edit", "/calls?search=script", "/calls?search=" + url.QueryEscape(script) + "&payloads=yes", "/pipelines", "/pipelines/hostile", "/pipelines/hostile/edit", "/pipelines/hostile/delete",
		"/deadletters", "/deadletters/1", "/quarantine", "/webhooks/webhook.hostile", "/webhooks", "/", "/calls", "/calls/" + traces[0], "/calls/" + traces[1], "/calls/" + traces[2],
		"/webhooks?search=" + url.QueryEscape(script), "/calls?eventKey=" + url.QueryEscape(script), "/commands?search=" + url.QueryEscape(script),
		"/signin?next=" + url.QueryEscape(script), "/audit?username=" + url.QueryEscape(script), "/pipelines?search=" + url.QueryEscape(script)} {
		v.get(path).wants(t, 200).lacks(t, "<script>alert", "<img src=x")
	}
	v.post("/pipelines/new", "name", script, "source", "pipeline:\n  - \""+script+"\"\n").wants(t, 422, "&lt;script&gt;").lacks(t, "<script>alert", "<img src=x")
	v.get("/pipelines/hostile").wants(t, 200, "Latest failure", "&lt;script&gt;alert(1)")
	v.post("/pipelines/hostile/edit", "source", "pipeline:\n  - event.listen: {eventKey: webhook.hostile}\n  - set: {value: '"+script+"'}\n", "do", "try", "limit", "20").wants(t, 200, "would now succeed").lacks(t, "<script>alert", "<img src=x")
	v.post("/webhooks/new", "eventKey", script).wants(t, 400, "&lt;script&gt;").lacks(t, "<script>alert", "<img src=x")
	v.post("/webhooks/webhook.hostile/try", "media", "text/html", "payload", script+"</textarea>").wants(t, 200).lacks(t, "<script>alert", "<img src=x", "onerror=alert(1)></textarea>")
}
