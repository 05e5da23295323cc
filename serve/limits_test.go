package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestLimits: what a pipeline may not, it is told, and others go on.
func TestLimits(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	o.answer = func(w http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 1<<20)
		for range 5 {
			_, _ = w.Write(chunk)
		}
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.limits")
	rounds := func(in, do string) string { return "foreach: {in: '" + in + "', do: [" + do + "]}" }
	double := "set: {value: '#{body + body}'}"
	tests := []struct {
		name, first, step string
		status            int
		code              string
	}{
		{name: "an endless loop", step: rounds("#{1..9000}", rounds("#{1..9000}", "set: {value: 1}")), status: 400, code: "too-many-steps"},
		{name: "a list too long for a loop", step: rounds("#{1..20000}", "set: {value: 1}"), status: 413, code: "too-many-items"},
		{name: "an expression without end", step: "set: {value: '#{len(filter(1..100000, len(filter(1..100000, true)) > 0))}'}", status: 400, code: "expression-failed"},
		{name: "an expression that fills the memory", step: "set: {value: '#{map(1..100000, repeat(\"x\", 100000))}'}", status: 400, code: "expression-failed"},
		{name: "run time", first: "timeout: 100ms\n", step: "wait: {duration: 1m}", status: 500, code: "run-too-long"},
		{name: "run time, whatever it does about errors", first: "timeout: 100ms\n", step: "wait: {duration: 1m, onError: {retry: {times: 20, wait: 1ms}}}", status: 500, code: "run-too-long"},
		{name: "a time of its own", step: "wait: {duration: \"#{'16' + 'm'}\"}", status: 400, code: "parameter-invalid"},
		{name: "a value that is too large", step: "set: {value: '#{repeat(\"x\", 1000000)}'}, " + strings.Repeat(double+", ", 4) + double, status: 400, code: "expression-failed"},
		{name: "a final body that is too large", step: "set: {value: '#{repeat(\"x\", 5000000)}'}", status: 413, code: "result-too-large"},
		{name: "too much in variables", step: strings.Join(variables(10), ", "), status: 413, code: "too-much-memory"},
		{name: "an answer that is too large", step: "http.request: {url: '" + o.url + "'}", status: 413, code: "answer-too-large"},
		{name: "depth", step: "set: {value: []}, " + rounds("#{1..1100}", "set: {value: [\"#{body}\"]}"), status: 413, code: "value-too-deep"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.store("limits", test.first+"pipeline: [{event.listen: {eventKey: webhook.limits}}, {iam.run.as: {username: admin}}, "+asItems(test.step)+"]")
			got := s.call(hook, "text/plain", "").result(t)
			cause := s.cause(t, got)
			if got.Status != "error" || cause["statusCode"] != float64(test.status) || cause["code"] != test.code {
				t.Errorf("it came to %.500v, want %d %s", cause, test.status, test.code)
			}
			if detail, _ := cause["detail"].(string); !strings.HasSuffix(detail, ".") && !strings.HasSuffix(detail, "?") || len(detail) > 1000 {
				t.Errorf("the detail is %.1500q", detail)
			}
			s.run(`pipeline: [set: {value: 1}]`).wantStatus(t, 200)
		})
	}

	t.Run("a call into the private network", func(t *testing.T) {
		guarded := start(t)
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"} {
			problem := guarded.run("pipeline: [http.request: {url: 'http://" + host + ":1/', timeout: 2s}]").object(t)
			if code := problem["code"]; code != "address-refused" {
				t.Errorf("%s: %v", host, problem)
			}
		}
	})
	t.Run("a source that is too long", func(t *testing.T) {
		s.put("long", "pipeline: [set: {value: "+strings.Repeat("x", 256<<10)+"}]", asAdmin).wantProblem(t, 400, "pipeline-invalid")
	})
	t.Run("aliases", func(t *testing.T) {
		s.put("bomb", "vars: {a: &a [1, 1], b: &b [*a, *a]}\npipeline: [set: {value: 1}]", asAdmin).wantProblem(t, 400, "pipeline-invalid")
	})
}

// variables are steps that each fill a variable with nearly as much as a value
// may have.
func variables(count int) (steps []string) {
	for i := range count {
		steps = append(steps, "set: {value: '#{repeat(\"x\", 7900000)}', output: vars.v"+string(rune('a'+i))+"}")
	}
	return steps
}

// asItems writes steps that are separated by commas as items of a list.
func asItems(steps string) string {
	var b strings.Builder
	depth := 0
	b.WriteByte('{')
	for i, c := range steps {
		switch {
		case strings.ContainsRune("{[(", c):
			depth++
		case strings.ContainsRune("}])", c):
			depth--
		case c == ',' && depth == 0:
			b.WriteString("}, {")
			continue
		}
		b.WriteString(steps[i : i+len(string(c))])
	}
	b.WriteByte('}')
	return b.String()
}

// TestHangingPipelinesDisturbNobody: while one pipeline uses up its time, the
// others run.
func TestHangingPipelinesDisturbNobody(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone, "run-timeout=1m")
	bad, good := s.create("webhook.bad"), s.create("webhook.good")
	s.store("bad", "timeout: 500ms\npipeline: [event.listen: {eventKey: webhook.bad}, foreach: {in: '#{1..9000}', do: [set: {value: '#{len(filter(1..9000, # % 2 == 0))}'}]}]")
	s.store("good", "pipeline: [event.listen: {eventKey: webhook.good}, set: {value: well}]")
	ids := make([]string, 8)
	for i := range ids {
		call := s.call(bad, "text/plain", "", func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" })
		ids[i] = call.wantStatus(t, 302).header.Get("svc-result-correlationid")
	}
	if got := s.call(good, "text/plain", "").result(t); got.Value != "well" {
		t.Errorf("the good one came to %+v", got)
	}
	for _, id := range ids {
		if got := s.await(t, id); s.cause(t, got)["code"] != "run-too-long" {
			t.Errorf("a bad one came to %+v", got)
		}
	}
}
