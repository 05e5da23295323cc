package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sluice/value"
)

// TestDeepValues: a payload that the receiver takes as JSON can be written and
// read by every step and expression, however deep it is nested.
func TestDeepValues(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.deep", "payloadType", "raw")
	s.store("deep", `
pipeline:
- event.listen: {eventKey: webhook.deep}
- set: {value: "#{toJSON(body.payload)}", output: vars.expression}
- convert.toJson: {input: "#{body.payload}", output: vars.step}
- convert.toJson: {output: vars.event}
- convert.fromJson: {input: "#{vars.event}"}
- convert.toYaml: {input: "#{body.payload}"}
- convert.fromYaml
- set: {value: "#{[convert.toJson(body), toJSON(fromJSON(vars.step)), vars.expression, vars.step]}"}
`)
	for _, levels := range []int{100, value.MaxDepth} {
		payload := strings.Repeat(`{"a":[`, levels/2) + strings.Repeat("]}", levels/2)
		got := s.call(hook, "application/json", payload).result(t)
		texts, _ := got.Value.([]any)
		if got.Status != "ok" || len(texts) != 4 {
			t.Errorf("%d levels: it came to %s, %v", levels, got.Status, got.Error)
		}
		for i, text := range texts {
			if text != payload {
				t.Errorf("%d levels: text %d is %.500v", levels, i, text)
			}
		}
	}
	deeper := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	if got := s.call(hook, "application/json", deeper).result(t); got.Status != "ok" || got.Value.([]any)[0] != `"`+deeper+`"` {
		t.Errorf("what is deeper is not text: %s, %v", got.Status, got.Error)
	}
}

// TestTooDeep: what is too deep is refused in the same way, whatever is done
// with it.
func TestTooDeep(t *testing.T) {
	t.Parallel()
	s := start(t)
	deep := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	deeper := "[" + deep + "]"
	source := "body: '" + deep + "'\npipeline: [convert.fromJson, event.send: {eventKey: a.b}]"
	problem := s.run(source).wantProblem(t, http.StatusRequestEntityTooLarge, "value-too-deep")
	if detail, _ := problem["detail"].(string); !strings.Contains(detail, "nested more than 1000 deep") {
		t.Errorf("the detail is %q", detail)
	}
	s.command("event.send", map[string]any{"eventKey": "a.b", "payload": json.RawMessage(deeper)}).wantProblem(t, http.StatusRequestEntityTooLarge, "value-too-deep")
	s.send("POST", "/api/v3/command/pipeline.run?source=pipeline:%20[pass]", strings.NewReader(deeper), asAdmin, header("Content-Type", "application/json")).
		wantProblem(t, http.StatusRequestEntityTooLarge, "value-too-deep")
}
