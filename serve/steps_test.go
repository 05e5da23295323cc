package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestSteps: what pipelines come to that are run over HTTP. An answer with a code is a problem. All
// built-in steps are in the tests of step.
func TestSteps(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct {
		name, source string
		want         string // the answer
		status       int    // of a problem
		code, detail string
	}{
		{name: "set", source: `pipeline: [set: {value: {a: 1}}]`, want: `{"a":1}`},
		{name: "fail with a status", source: `pipeline: [fail: {message: no milk, statusCode: 409}]`, status: 409, code: "failed", detail: "no milk"},
		{name: "a command with an answer of its own", source: `pipeline: [server.info, set: {value: "#{body.engine}"}]`, want: `"embedded"`},
		{name: "no step fails silently", source: `pipeline: [webhook.delete: {uuid: 00000000-0000-4000-8000-000000000000}]`, status: 404, code: "webhook-not-found", detail: "Step 1, webhook.delete"},
		{name: "a source with mistakes", source: "pipeline:\n- st: {value: 1}\n- set: {vlaue: 1}", status: 400, code: "pipeline-invalid", detail: `Line 2: There is no command "st"; did you mean set?`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.run(test.source)
			if test.code != "" {
				problem := got.wantProblem(t, test.status, test.code)
				if detail, _ := problem["detail"].(string); !strings.Contains(detail, test.detail) {
					t.Errorf("the detail is %q, want %q in it", detail, test.detail)
				}
				return
			}
			got.wantStatus(t, 200)
			if text := strings.TrimSpace(string(got.body)); text != test.want {
				t.Errorf("it came to %s, want %s", text, test.want)
			}
		})
	}
}

// flaky answers 503 so many times, then 200.
func flaky(times int) http.HandlerFunc {
	calls := make(chan struct{}, times)
	return func(w http.ResponseWriter, _ *http.Request) {
		select {
		case calls <- struct{}{}:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
		}
	}
}

// TestRetries: steps and pipelines are tried again as they say, and what a 4xx
// refused never is.
func TestRetries(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.retry")
	request := "http.request: {url: '" + o.url + "/#{request.attempt}'}"
	check := "fail: {if: '#{body.statusCode >= 400}', message: no, statusCode: '#{body.statusCode}'}"
	tests := []struct {
		name, source string
		answer       http.HandlerFunc
		status       string
		calls        []string
		letters      int
	}{
		{"a pipeline, until it works", "retry: {times: 3, backoff: 10ms}\n" + listening("webhook.retry", request, check), flaky(2), "ok", []string{"/1", "/2", "/3"}, 0},
		{"a pipeline, until it is enough", "retry: {times: 2, backoff: 10ms}\n" + listening("webhook.retry", request, check), flaky(99), "error", []string{"/1", "/2", "/3"}, 1},
		{"one attempt by default", listening("webhook.retry", request, check), flaky(99), "error", []string{"/1"}, 1},
		{"never after a 4xx", "retry: {times: 2, backoff: 10ms}\n" + listening("webhook.retry", request, check),
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "error", []string{"/1"}, 1},
		{"a step", listening("webhook.retry", "foreach:\n    in: [1]\n    onError: {retry: {times: 2, wait: 1ms}}\n    do:\n    - "+request+"\n    - "+check), flaky(2), "ok", []string{"/1", "/1", "/1"}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := len(o.all())
			o.answer = test.answer
			s.command("deadletter.delete", map[string]any{"pipeline": "retries"}).wantStatus(t, 200)
			s.store("retries", test.source)
			got := s.call(hook, "text/plain", "").result(t)
			if got.Status != test.status {
				t.Errorf("it came to %+v, want %s", got, test.status)
			}
			var paths []string
			for _, call := range o.all()[before:] {
				paths = append(paths, call.path)
			}
			if strings.Join(paths, " ") != strings.Join(test.calls, " ") {
				t.Errorf("the calls are %v, want %v", paths, test.calls)
			}
			for _, letter := range s.letters(t, "retries", test.letters) {
				if attempts, _ := letter["attempts"].(float64); int(attempts) != len(test.calls) {
					t.Errorf("the letter has %v attempts", attempts)
				}
			}
		})
	}
}

// TestLintAndTestOverHTTP: sources are checked, and the tests they carry run,
// without storing them.
func TestLintAndTestOverHTTP(t *testing.T) {
	t.Parallel()
	s := start(t)
	asYAML := header("Content-Type", "application/yaml")
	post := func(name, source string) answer {
		t.Helper()
		return s.send("POST", "/api/v3/command/"+name, strings.NewReader(source), asAdmin, asYAML)
	}
	var lint struct {
		Valid    bool
		Listens  string
		Problems []struct {
			Line, Column           int
			Snippet, Step, Message string
		}
	}
	post("pipeline.lint", "pipeline:\n- event.listen: {eventKey: 'a.*'}\n- set: {vlaue: 1}\n- httprequest: {url: x}\n- set: {value: '#{body..x}'}").wantStatus(t, 200).into(t, &lint)
	if lint.Valid || len(lint.Problems) != 3 || lint.Problems[0].Line != 3 || lint.Problems[1].Line != 4 || !strings.Contains(lint.Problems[1].Message, "http.request") || lint.Problems[0].Snippet == "" {
		t.Errorf("the findings are %+v", lint)
	}
	lint.Valid = false
	post("pipeline.lint", "pipeline:\n- event.listen: {eventKey: 'a.*'}").wantStatus(t, 200).into(t, &lint)
	if !lint.Valid || lint.Listens != "svc.event.a.*" {
		t.Errorf("a good source is %+v", lint)
	}
	var report struct {
		Passed, Failed int
		Tests          []struct {
			Name, Message string
			Passed        bool
		}
	}
	source := "pipeline: [http.request: {url: 'http://127.0.0.1'}, set: {value: '#{body.body + vars.n}'}]\ntests:\n" +
		"- {name: right, vars: {n: 1}, stub: {http.request: {body: 41}}, expect: {body: 42, calls: [http.request]}}\n" +
		"- {name: wrong, vars: {n: 2}, stub: {http.request: {body: 41}}, expect: {body: 42}}\n" +
		"- {name: not stubbed, vars: {n: 2}}\n" +
		"- {name: fails, stub: {http.request: {error: {code: http-failed, statusCode: 503}}}, expect: {error: {statusCode: 503}}}\n"
	post("pipeline.test", source).wantStatus(t, 200).into(t, &report)
	if report.Passed != 2 || report.Failed != 2 || !strings.Contains(report.Tests[1].Message, "43") || !strings.Contains(report.Tests[2].Message, "stub") {
		t.Errorf("the report is %+v", report)
	}
	s.store("tested", source)
	s.send("POST", "/api/v3/command/pipeline.test?name=tested", nil, asAdmin).wantStatus(t, 200)
	s.send("GET", "/api/v3/command/pipeline.lint?name=tested", nil, asAdmin).wantStatus(t, 200)
	post("pipeline.test", "pipeline: [nothing.such]").wantProblem(t, 400, "pipeline-invalid")
	s.send("POST", "/api/v3/command/pipeline.lint", strings.NewReader("x"), asYAML).wantStatus(t, 401)
}
