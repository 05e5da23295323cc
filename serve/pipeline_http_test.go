package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestPipelinesAsDocuments: PUT stores, GET gives the source back, POST runs and
// DELETE deletes.
func TestPipelinesAsDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/api/v3/pipeline/greets.v1"
	source := "# Greets.\ndescription: Greets.\nbody: {name: nobody}\nvars: {greeting: Hello}\npipeline:\n- set: {value: '#{vars.greeting} #{body.name}'}\n"
	view := s.put("greets.v1", source, asAdmin, header("Content-Type", "application/yaml")).wantStatus(t, 200).object(t)
	for field, want := range map[string]any{"name": "greets.v1", "description": "Greets.", "owner": "admin", "folder": false, "concurrency": 16.0, "listens": nil, "source": nil} {
		if view[field] != want {
			t.Errorf("%s is %v, want %v", field, view[field], want)
		}
	}
	got := s.send("GET", path, nil, asAdmin).wantStatus(t, 200)
	if string(got.body) != source || got.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("GET gives %s: %s", got.header.Get("Content-Type"), got.body)
	}

	asJSON := header("Content-Type", "application/json")
	for _, run := range []struct{ target, body, want string }{
		{path, "", `"Hello nobody"`},
		{path + "?greeting=Hi", "", `"Hi nobody"`},
		{path + "?greeting=Hi", `{"name":"Ada"}`, `"Hi Ada"`},
		{path + "?name=ignored&source=ignored&body=ignored", `{"name":"Ada"}`, `"Hello Ada"`},
	} {
		got := s.send("POST", run.target, strings.NewReader(run.body), asAdmin, asJSON).wantStatus(t, 200)
		if strings.TrimSpace(string(got.body)) != run.want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("POST %s gives %s, want %s", run.target, got.body, run.want)
		}
	}
	s.put("echoes", "pipeline: [set: {value: '#{body}'}]", asAdmin).wantStatus(t, 200)
	for _, body := range []struct{ contentType, content, want string }{
		{"application/json", `{"a":[1.5,12345678901234567890]}`, `{"a":[1.5,12345678901234567890]}`},
		{"application/json; charset=utf-8", `"text"`, `"text"`},
		{"text/plain", `{"a":1}`, `"{\"a\":1}"`},
		{"application/x-www-form-urlencoded", `a=1&b=2`, `"a=1&b=2"`},
		{"text/csv", "a,b\n", `"a,b\n"`},
	} {
		got := s.send("POST", "/api/v3/pipeline/echoes", strings.NewReader(body.content), asAdmin, header("Content-Type", body.contentType)).wantStatus(t, 200)
		if strings.TrimSpace(string(got.body)) != body.want {
			t.Errorf("a body of %s arrives as %s, want %s", body.contentType, got.body, body.want)
		}
	}
	s.send("POST", "/api/v3/pipeline/echoes", strings.NewReader("{"), asAdmin, asJSON).wantProblem(t, 400, "body-malformed")
	s.send("POST", path+"?a=1&a=2", nil, asAdmin).wantProblem(t, 400, "parameter-conflict")
	s.send("POST", path+"?a=%zz", nil, asAdmin).wantProblem(t, 400, "query-malformed")

	var list []map[string]any
	s.send("GET", "/api/v3/command/pipeline.get", nil, asAdmin).wantStatus(t, 200).into(t, &list)
	if len(list) != 2 || list[0]["name"] != "echoes" || list[1]["name"] != "greets.v1" || list[0]["source"] != nil {
		t.Errorf("the list is %v", list)
	}
	page := s.send("GET", "/api/v3/command/pipeline.get?limit=1", nil, asAdmin).wantStatus(t, 200)
	if link := page.header.Get("Link"); !strings.Contains(link, "after=echoes") {
		t.Errorf("the Link header is %q, want the next page", link)
	}
	one := s.command("pipeline.get", map[string]any{"name": "greets.v1"}).wantStatus(t, 200).object(t)
	if one["source"] != source {
		t.Errorf("pipeline.get gives %v", one)
	}

	s.send("DELETE", path, nil, asAdmin).wantStatus(t, 200)
	for _, method := range []string{"GET", "DELETE", "POST"} {
		s.send(method, path, nil, asAdmin).wantProblem(t, 404, "pipeline-unknown")
	}
}

// TestPipelinePathRefusals: of callers without permission, unknown pipelines
// and malformed requests.
func TestPipelinePathRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	const source = "pipeline: [set: {value: 1}]"
	s.store("there", source)
	for _, method := range []string{"PATCH", "HEAD", "OPTIONS"} {
		got := s.send(method, "/api/v3/pipeline/there", nil, asAdmin).wantStatus(t, http.StatusMethodNotAllowed)
		if allow := got.header.Get("Allow"); allow != "PUT, GET, DELETE, POST" {
			t.Errorf("%s: Allow is %q", method, allow)
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
		got := s.send(method, "/api/v3/pipeline", nil, asAdmin).wantStatus(t, http.StatusMethodNotAllowed)
		if allow := got.header.Get("Allow"); allow != "POST" {
			t.Errorf("%s: Allow is %q", method, allow)
		}
	}
	for _, name := range []string{"Upper", "_x", ".x", "a%20b", "a%2Fb", strings.Repeat("a", 129), "%C3%A4"} {
		s.put(name, source, asAdmin).wantProblem(t, 400, "parameter-invalid")
	}
	for _, path := range []string{"/api/v3/pipeline/", "/api/v3/pipeline/a/b", "/api/v3/pipeline/../x", "/api/v3/pipelines"} {
		s.send("POST", path, strings.NewReader(source), asAdmin).wantProblem(t, 404, "not-found")
	}
	s.put("empty", "", asAdmin).wantProblem(t, 400, "parameter-missing")
	var places []string
	all, _ := s.put("mistakes", "pipeline:\n- st\n- lgo\n", asAdmin).wantProblem(t, 400, "pipeline-invalid")["errors"].([]any)
	for _, e := range all {
		found := e.(map[string]any)
		places = append(places, fmt.Sprintf("%v:%v %v", found["line"], found["column"], found["message"]))
	}
	if want := []string{`2:3 There is no command "st"; did you mean set?`, `3:3 There is no command "lgo"; did you mean log?`}; !slices.Equal(places, want) {
		t.Errorf("the mistakes are %q", places)
	}
	s.put("bytes", "\xff", asAdmin).wantProblem(t, 400, "body-malformed")
	s.send("GET", "/api/v3/pipeline/mistakes", nil, asAdmin).wantProblem(t, 404, "pipeline-unknown")
	s.run("").wantProblem(t, 400, "body-missing")
	s.run("pipeline: [wait: {duration: 16m}]").wantProblem(t, 400, "pipeline-invalid")
	form := header("Content-Type", "application/x-www-form-urlencoded")
	unnamed := s.send("POST", "/api/v3/command/pipeline.run", strings.NewReader("name=x"), asAdmin, form).wantProblem(t, 400, "parameter-invalid")
	if !strings.Contains(unnamed["detail"].(string), "in the query") {
		t.Errorf("a name in the body is answered with %v", unnamed["detail"])
	}
	s.send("POST", "/api/v3/pipeline?source=x", nil, asAdmin).wantProblem(t, 400, "body-missing")

	body := func(method string) io.Reader {
		if method == "GET" || method == "DELETE" {
			return nil
		}
		return strings.NewReader(source)
	}
	for _, method := range []string{"PUT", "GET", "DELETE", "POST"} {
		got := s.send(method, "/api/v3/pipeline/there", body(method)).wantStatus(t, 401)
		if !slices.ContainsFunc(got.header.Values("WWW-Authenticate"), func(c string) bool { return strings.HasPrefix(c, "Basic") }) {
			t.Errorf("%s: the challenges are %v", method, got.header.Values("WWW-Authenticate"))
		}
	}
	s.send("POST", "/api/v3/pipeline", strings.NewReader(source)).wantStatus(t, 401)
	asViewer := s.user("nothing", "iam.whoami")
	for method, permission := range map[string]string{"PUT": "pipeline.put", "GET": "pipeline.get", "DELETE": "pipeline.delete", "POST": "pipeline.run"} {
		problem := s.send(method, "/api/v3/pipeline/there", body(method), asViewer).wantProblem(t, 403, "forbidden")
		if !strings.Contains(problem["detail"].(string), permission) {
			t.Errorf("%s: the refusal is %v", method, problem["detail"])
		}
	}
	problem := s.put("hears", "pipeline: [event.listen: {eventKey: x}]", s.user("deaf", "pipeline.*")).wantProblem(t, 403, "forbidden")
	if !strings.Contains(problem["detail"].(string), "event.listen") {
		t.Errorf("the refusal is %v", problem["detail"])
	}
}

// TestRunsOfCallers: who runs a pipeline over HTTP runs it as themselves, and may
// no more than anywhere else.
func TestRunsOfCallers(t *testing.T) {
	t.Parallel()
	s := start(t)
	asAda := s.user("ada", "pipeline.run", "iam.whoami")
	s.store("who", "pipeline: [iam.whoami]")
	s.store("puts", "pipeline: [webhook.put: {eventKey: webhook.x}]")
	if got := s.send("POST", "/api/v3/pipeline/who", nil, asAda).wantStatus(t, 200).object(t); got["username"] != "ada" {
		t.Errorf("it ran as %v", got["username"])
	}
	problem := s.send("POST", "/api/v3/pipeline/puts", nil, asAda).wantProblem(t, 403, "forbidden")
	if !strings.Contains(problem["detail"].(string), "webhook.put") {
		t.Errorf("the refusal is %v", problem["detail"])
	}
	s.send("POST", "/api/v3/pipeline", strings.NewReader("pipeline: [webhook.put: {eventKey: webhook.x}]"), asAda).wantProblem(t, 403, "forbidden")
	got := s.send("POST", "/api/v3/pipeline?n=1", strings.NewReader(`{"pipeline":[{"set":{"value":"#{vars.n}"}}]}`), asAdmin, header("Content-Type", "application/json"))
	if text := strings.TrimSpace(string(got.wantStatus(t, 200).body)); text != `"1"` {
		t.Errorf("a source in JSON came to %s", text)
	}
	got = s.command("pipeline.run", nil)
	got.wantStatus(t, 400)
	s.send("POST", "/api/v3/command/pipeline.run?name=who", nil, asAdmin).wantStatus(t, 200)
}
