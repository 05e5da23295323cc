package portal_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var stylesheet = regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)

// TestPagesAreSmall: every page with all that a browser loads for it is below 130 KB, even with
// much to show; with the editor below 150 KB where the browser takes no brotli, as over plain HTTP.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	for i := range 60 {
		s.command("webhook.put", map[string]any{"eventKey": fmt.Sprintf("webhook.many.%03d.%s", i, strings.Repeat("x", 100))})
	}
	large := s.command("webhook.put", map[string]any{"eventKey": "webhook.large", "payloadType": "raw"})
	trace := s.call(large["uuid"].(string), "text/plain", strings.Repeat("<&", 200_000))
	v := s.signedIn("admin", adminPassword)
	for _, path := range append(everyPage(live), "/calls/"+trace, "/reference/iam", "/reference/convert") {
		status := 200
		if path == "/nowhere" {
			status = 404
		}
		got := v.get(path).wants(t, status, `<main id="main"`, "<h1", `lang="en"`)
		hasEditor := strings.HasPrefix(path, "/pipelines/") && (strings.HasSuffix(path, "/edit") || strings.HasSuffix(path, "/new"))
		for encodings, most := range map[string]int{"gzip, br": 130_000, "gzip": 150_000} {
			if !hasEditor {
				most = 130_000
			}
			size := v.transferred(path, encodings)
			for _, asset := range stylesheet.FindAllStringSubmatch(got.body, -1) {
				size += v.transferred(asset[1], encodings)
			}
			if size >= most {
				t.Errorf("%s has %d bytes in %s", path, size, encodings)
			}
		}
	}
}

// transferred returns how many bytes a browser loads.
func (v *visitor) transferred(path, encodings string) int {
	v.t.Helper()
	return len(v.send("GET", path, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", encodings) }).body)
}

// TestAssetsAreKept: file names have a hash of the content, so that browsers cache them.
// Other names are not found.
func TestAssetsAreKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.visitor()
	page := v.get("/signin").wants(t, 200)
	found := stylesheet.FindAllStringSubmatch(page.body, -1)
	if len(found) != 6 {
		t.Fatalf("the page loads %v", found)
	}
	for _, asset := range found {
		got := v.get(asset[1]).wants(t, 200)
		if cache := got.header.Get("Cache-Control"); !strings.Contains(cache, "immutable") {
			t.Errorf("%s: Cache-Control is %q", asset[1], cache)
		}
	}
	v.get("/static/portal.css").wants(t, 404)
	v.get("/static/..%2fpages%2flayout.html").wants(t, 404)
}

// TestLists page: each has a page of the things there are, and a way to the next.
func TestListsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 30 {
		s.command("webhook.put", map[string]any{"eventKey": fmt.Sprintf("webhook.n%02d", i)})
		s.command("iam.user.put", map[string]any{"username": fmt.Sprintf("user%02d", i)})
		s.command("iam.role.put", map[string]any{"role": fmt.Sprintf("role%02d", i), "permissions": "webhook.get"})
		s.command("iam.client.put", map[string]any{"clientId": fmt.Sprintf("client%02d", i)})
		s.command("secret.put", map[string]any{"name": fmt.Sprintf("secret%02d", i), "value": "x"})
		s.store(fmt.Sprintf("p%02d", i), "pipeline: [log]")
	}
	v := s.signedIn("admin", adminPassword)
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for path, row := range map[string]string{"/webhooks": "/webhooks/webhook.n", "/users": "/users/user", "/roles": "/roles/role", "/clients": "/clients/client", "/secrets": "/secrets/secret", "/pipelines": "/pipelines/p", "/audit": ".put</code>"} {
		first := v.get(path).wants(t, 200)
		if n := strings.Count(first.body, row); n > 25 || n < 8 {
			t.Errorf("%s shows %d rows", path, n)
		}
		link := next.FindStringSubmatch(first.body)
		if link == nil {
			t.Errorf("%s has no next page", path)
			continue
		}
		second := v.get(strings.ReplaceAll(link[1], "&amp;", "&")).wants(t, 200, row)
		if second.body == first.body {
			t.Errorf("%s: the second page is the first", path)
		}
	}
	v.get("/webhooks?search=n07").wants(t, 200, "webhook.n07").lacks(t, "webhook.n08")
	v.get("/users?search=R07").wants(t, 200, "user07").lacks(t, "user08")
	v.get("/commands?search=webhook.put").wants(t, 200, "webhook.put").lacks(t, "iam.user.put")
	v.get("/audit?username=nobody").wants(t, 200, "Nothing found")
	v.get("/audit?from=x").wants(t, 400, "must be a time")
	v.get("/calls?trace=%3Cscript%3E").wants(t, 400, "must be a trace id")
}

// TestMistakesStandBesideTheirFields: what was entered stays, and the field says
// what is wrong.
func TestMistakesStandBesideTheirFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.taken"})
	for name, test := range map[string]struct {
		path   string
		form   []string
		status int
		texts  []string
	}{
		"an event key that is none": {"/webhooks/new", []string{"eventKey", "not a key"}, 400, []string{`id="field-eventKey-problem"`, `value="not a key"`, "aria-invalid"}},
		"no event key":              {"/webhooks/new", []string{"eventKey", ""}, 400, []string{`id="field-eventKey-problem"`}},
		"a key that is taken":       {"/webhooks/new", []string{"eventKey", "webhook.taken"}, 409, []string{`id="field-eventKey-problem"`, "Another webhook"}},
		"too large":                 {"/webhooks/new", []string{"eventKey", "webhook.a", "maxPayloadLength", "5000000"}, 400, []string{`id="field-maxPayloadLength-problem"`}},
		"an edit":                   {"/webhooks/webhook.taken/edit", []string{"eventKey", "x y"}, 400, []string{`id="field-eventKey-problem"`, "Edit the webhook"}},
		"a username":                {"/users/new", []string{"username", "a b"}, 400, []string{`id="field-username-problem"`}},
		"a permission":              {"/roles/new", []string{"role", "r", "permissions", "no such!"}, 400, []string{`id="field-permissions-problem"`}},
		"a secret's name":           {"/secrets/new", []string{"name", "a b", "value", "hush"}, 400, []string{`id="field-name-problem"`}},
		"a pipeline's name":         {"/pipelines/new", []string{"name", "Not OK", "source", "pipeline: [log]"}, 400, []string{"must be 1 to 128 lower-case letters, digits"}},
		"the last admin":            {"/users/admin/delete", nil, 409, []string{"last administrator"}},
		"a command":                 {"/commands/webhook.put", []string{"eventKey", "a b"}, 400, []string{`id="field-eventKey-problem"`}},
		"the current password":      {"/me", []string{"password", "new password", "current", "wrong"}, 403, []string{`id="field-current-problem"`}},
		"the first webhook":         {"/start", []string{"eventKey", "a b"}, 400, []string{"must be 1 to 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			v.post(test.path, test.form...).wants(t, test.status, test.texts...).lacks(t, `value="hush"`, `value="wrong"`)
		})
	}
}

// TestEverythingIsDoneByForms: without a script things are made, changed, looked
// at and deleted.
func TestEverythingIsDoneByForms(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	goes := func(to string, got answer) {
		t.Helper()
		got.wants(t, http.StatusSeeOther)
		if has := got.header.Get("Location"); has != to {
			t.Errorf("then comes %q, want %q", has, to)
		}
	}
	goes("/webhooks/webhook.a?done=created", v.post("/webhooks/new", "eventKey", "webhook.a", "payloadType", "", "maxPayloadLength", ""))
	goes("/webhooks/webhook.b?done=saved", v.post("/webhooks/webhook.a/edit", "eventKey", "webhook.b", "payloadType", "raw", "maxPayloadLength", "1000"))
	v.get("/webhooks/webhook.b?done=saved").wants(t, 200, "Saved.", "1,000 bytes", "••••••••-")
	v.get("/webhooks/webhook.a").wants(t, 404)
	v.post("/webhooks/webhook.b/try", "media", "application/json", "payload", `{"a":1}`).wants(t, 200, "Accepted and kept, but no pipeline listens")
	v.post("/webhooks/webhook.b/try", "media", "text/plain", "payload", strings.Repeat("x", 1001)).wants(t, 200, "Rejected with 413", "payload-too-large")
	v.get("/webhooks/webhook.b").wants(t, 200, "Renew the URL")
	v.post("/webhooks/webhook.b/tokens", "expires", "yesterday").wants(t, 400, "expires must be a time to come", `value="yesterday"`)
	goes("/webhooks/webhook.b/tokens?done=added", v.post("/webhooks/webhook.b/tokens", "description", "for the shop", "expires", "30d"))
	first := regexp.MustCompile(`/tokens/([0-9a-f]{6})/delete`).FindStringSubmatch(v.get("/webhooks/webhook.b/tokens").wants(t, 200, "for the shop", "Copy the whole URL").body)[1]
	v.get("/webhooks/webhook.b/tokens/"+first+"/delete").wants(t, 200, "Delete this URL?", first)
	goes("/webhooks/webhook.b/tokens?done=deleted", v.post("/webhooks/webhook.b/tokens/"+first+"/delete"))
	v.get("/webhooks/webhook.b/tokens").wants(t, 200, "closed", "Open again")
	v.get("/webhooks/webhook.b/delete").wants(t, 200, "Delete this webhook?")
	goes("/webhooks?done=deleted", v.post("/webhooks/webhook.b/delete"))

	goes("/users?done=saved", v.post("/users/new", "choices", "yes", "username", "eve", "password", "a long password", "roles", "", "roles", "viewer"))
	v.get("/users/eve").wants(t, 200, `value="viewer" checked`).lacks(t, "a long password", `value="admin" checked`)
	goes("/users?done=saved", v.post("/users/eve", "choices", "yes", "username", "someone.else", "roles", ""))
	v.get("/users/eve").wants(t, 200).lacks(t, `value="viewer" checked`)
	goes("/users?done=deleted", v.post("/users/eve/delete"))

	goes("/roles?done=saved", v.post("/roles/new", "role", "caller", "permissions", "webhook.get,\r\nserver.info"))
	v.get("/roles/caller").wants(t, 200, `value="server.info" checked`, `value="webhook.get" checked`)
	got := v.post("/clients/new", "choices", "yes", "clientId", "robot", "roles", "", "roles", "caller", "grants", "", "grants", "client_credentials").wants(t, 200, "shown only this once")
	secret := regexp.MustCompile(`<pre class="wrap">([A-Z2-7]+)</pre>`).FindStringSubmatch(got.body)
	if secret == nil {
		t.Fatal("no secret is shown")
	}
	v.get("/clients/robot").wants(t, 200).lacks(t, secret[1])
	goes("/secrets?done=saved", v.post("/secrets/new", "name", "crm", "value", "hush"))
	v.get("/secrets/crm").wants(t, 200).lacks(t, "hush")

	goes("/pipelines/p?done=saved#next", v.post("/pipelines/new", "name", "p", "source", "pipeline:\r\n  - set: {value: '#{body.n + 1}'}\r\n"))
	v.get("/pipelines/p").wants(t, 200, "by hand", "hl-expression")
	v.post("/pipelines/p/run", "body", `{"n":41}`).wants(t, 200, "42")
	v.post("/pipelines/p/run", "body", `{"n":"x"}`).wants(t, 200, "note bad")
	v.post("/pipelines/p/test").wants(t, 200, "has no tests")
	v.post("/pipelines/p/edit", "do", "check", "source", "pipeline: [log]").wants(t, 200, "No mistakes found")
	v.get("/pipelines/p").wants(t, 200, "hl-expression") // checking has stored nothing
	v.post("/pipelines/p/delete").wants(t, 200, "The pipeline is deleted.", "Undo")

	v.post("/commands/iam.whoami").wants(t, 200, "&#34;username&#34;: &#34;admin&#34;")
	v.get("/commands/webhook.receive").wants(t, 200).lacks(t, ">Run<")
	v.get("/commands/pipeline.put").wants(t, 200, "pipeline.put?name=…&#39; \\\n  --data-binary @source")
	v.get("/commands/iam.role.put").wants(t, 200, " -d role=…")
	v.get("/commands/iam.whoami").wants(t, 200).lacks(t, " -d ", "-X POST")
}

// TestUnderAPath: if a proxy serves the portal under a path, all links have it.
func TestUnderAPath(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url=https://example.org/hooks")
	v := s.visitor()
	links := regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)
	check := func(got answer) {
		t.Helper()
		for _, link := range links.FindAllStringSubmatch(got.wants(t, 200).body, -1) {
			if !strings.HasPrefix(link[1], "/hooks/") {
				t.Errorf("a link leads to %s", link[1])
			}
		}
	}
	check(v.get("/signin"))
	got := v.post("/signin", "username", "admin", "password", adminPassword, "next", "/webhooks")
	if to := got.header.Get("Location"); to != "/hooks/webhooks" {
		t.Errorf("after the sign-in comes %q", to)
	}
	secure := http.Response{Header: got.header}
	withCookie := func(r *http.Request) { r.AddCookie(secure.Cookies()[0]) } // the jar sends it by HTTPS only
	for _, path := range []string{"/", "/webhooks", "/calls", "/pipelines/new", "/commands/webhook.put", "/users/admin", "/start"} {
		check(v.send("GET", path, "", withCookie))
	}
}

// TestASlashTooMany: pages that people type with a slash at their end are found,
// and no address leads to another site.
func TestASlashTooMany(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, want := range map[string]string{"/webhooks/": "../webhooks", "/calls/?status=error": "../calls?status=error", "/%5Cevil.example/": "../%5Cevil.example", "//evil.example/": ""} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.base()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Location"); got != want || (response.StatusCode == 308) != (want != "") {
			t.Errorf("%s is answered with %d and leads to %q, want %q", path, response.StatusCode, got, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestApostrophes: pages have typographic apostrophes, except in what people or machines
// wrote.
func TestApostrophes(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	v := s.signedIn("admin", adminPassword)
	written := regexp.MustCompile(`(?s)<(pre|code|textarea|title)\b.*?</(?:pre|code|textarea|title)>`)
	tags := regexp.MustCompile(`<[^>]*>`)
	typed := regexp.MustCompile(`.{0,40}\pL'\pL.{0,40}`)
	for _, path := range everyPage(live) {
		text := html.UnescapeString(tags.ReplaceAllString(written.ReplaceAllString(v.get(path).body, " "), " "))
		for _, found := range typed.FindAllString(text, 5) {
			t.Errorf("%s: %s", path, found)
		}
	}
}

// TestTheRulesForNames: the form and its error state the same rule for a name.
func TestTheRulesForNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	const wide, narrow, first = "letters, digits, dots, _ and -", "lower-case letters, digits, dots, _ and -", ", beginning with a letter or digit"
	for path, rule := range map[string]string{
		"/webhooks/new":  "1 to 200 letters, digits, _ and -, in groups joined by dots",
		"/start":         "1 to 200 letters, digits, _ and -, in groups joined by dots",
		"/pipelines/new": "1 to 128 " + narrow + first,
		"/users/new":     "1 to 128 letters, digits, dots, _, @, + and -" + first,
		"/roles/new":     "1 to 63 " + narrow + first,
		"/clients/new":   "1 to 128 " + wide + first,
		"/secrets/new":   "1 to 128 " + wide + first,
	} {
		shown := v.get(path).wants(t, 200)
		refused := v.post(path, "eventKey", "no name", "name", "no name", "username", "no name", "role", "no name", "clientId", "no name",
			"password", "a long password", "permissions", "read", "value", "x", "source", "pipeline: [log]")
		const once, twice = 1, 2 // with the mistake
		if strings.Count(html.UnescapeString(shown.body), rule) < once || strings.Count(html.UnescapeString(refused.body), rule) < twice {
			t.Errorf("%s: the rule “%s” is not there before and after a mistake (%d)", path, rule, refused.status)
		}
	}
}
