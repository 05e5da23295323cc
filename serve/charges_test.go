package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// TestDirectCallsAreCharged: what users make the server compute outside a run is taken
// from the memory of all runs, as it is within one.
func TestDirectCallsAreCharged(t *testing.T) {
	t.Parallel()
	s := start(t, "max-run-memory=32MiB") // half of it is for values
	dense := strings.Repeat("[],", 90_000)
	convert := func() answer {
		return s.send(http.MethodPost, "/api/v3/command/convert.fromYaml", strings.NewReader("["+dense+"1]"), asAdmin, header("Content-Type", "text/plain"))
	}
	lint := func() answer {
		return s.send(http.MethodPost, "/api/v3/command/pipeline.lint", strings.NewReader("pipeline: [set: {value: ["+dense[:200_000]+"1]}]"), asAdmin, header("Content-Type", "text/plain"))
	}
	convert().wantStatus(t, http.StatusOK)
	lint().wantStatus(t, http.StatusOK)

	running, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source := "pipeline:\n- set: {value: '#{repeat(\"x\", 8000000)}'}\n- wait: {duration: 5m}\n"
		for running.Err() == nil { // what is converted beside it may leave it no memory
			r, err := http.NewRequestWithContext(running, http.MethodPost, s.base()+"/api/v3/pipeline", strings.NewReader(source))
			if err != nil {
				t.Error(err)
				return
			}
			asAdmin(r)
			if response, err := s.client.Do(r); err == nil {
				response.Body.Close()
			}
		}
	}()
	eventually(t, "the run to have its value", func() bool { return convert().status == http.StatusServiceUnavailable })
	convert().wantProblem(t, http.StatusServiceUnavailable, "no-run-memory")
	lint().wantProblem(t, http.StatusServiceUnavailable, "no-run-memory")
	s.command("convert.fromYaml", map[string]any{"input": "a: 1"}, asAdmin).wantStatus(t, http.StatusOK)
	end()
	<-ended
	eventually(t, "the memory to be free", func() bool { return convert().status == http.StatusOK })
}

// TestSchemaChecksAreBounded: a payload that would take long to check is refused, whatever
// makes it so. The same schemas serve others.
func TestSchemaChecksAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	list := func(item string, count int) string { return "[" + strings.Repeat(item+",", count) + item + "]" }
	split := func(count int) string { // lists that a hash of their texts can't tell apart
		var items []string
		for i := range count {
			items = append(items, `["`+strings.Repeat("x", i)+`","`+strings.Repeat("x", count-i)+`"]`)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	for name, test := range map[string]struct{ schema, good, bad string }{
		"enum":        {`{"items":{"enum":` + list("7.5", 99) + `}}`, "[7.5]", list("7.50", 50_000)},
		"wrong enum":  {`{"items":{"anyOf":[{"enum":` + list("7.5", 99) + `},{}]}}`, "[1]", list("1", 50_000)},
		"const":       {`{"items":{"const":{"a":` + list("1", 99) + `}}}`, `[{"a":` + list("1", 99) + `}]`, list(`{"a":`+list("1", 99)+`}`, 2_000)},
		"types":       {`{"items":{"anyOf":` + list(`{"type":"string"}`, 500) + `}}`, `["a"]`, list("1", 100_000)},
		"uniqueItems": {`{"uniqueItems":true}`, "[[1],[2]]", split(660)},
		"pattern":     {`{"pattern":"(x{0,30}){0,30}y"}`, `"xy"`, `"` + strings.Repeat("x", 500_000) + `"`},
		"properties":  {`{"items":{"properties":{` + members(780) + `}}}`, `[{"a":1}]`, list(`{"a":1}`, 5_000)},
	} {
		t.Run(name, func(t *testing.T) {
			hook := s.create("webhook.cost."+strings.ReplaceAll(name, " ", "-"), "schema", test.schema)
			s.call(hook, "application/json", test.good).wantStatus(t, http.StatusOK)
			problem := s.call(hook, "application/json", test.bad).wantProblem(t, http.StatusUnprocessableEntity, "payload-invalid")
			if found, _ := problem["errors"].([]any); len(found) != 1 || !strings.Contains(found[0].(map[string]any)["message"].(string), "too many steps") {
				t.Errorf("it is refused with %.500v", problem)
			}
			s.call(hook, "application/json", test.good).wantStatus(t, http.StatusOK)
		})
	}
}

// members are properties with names of their own.
func members(count int) string {
	var all []string
	for i := range count {
		all = append(all, `"m`+strings.Repeat("x", i%30)+string(rune('a'+i%26))+`":true`)
	}
	return strings.Join(all, ",")
}
