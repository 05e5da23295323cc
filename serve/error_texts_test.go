package serve_test

import (
	"strings"
	"testing"
)

// TestErrorsQuoteNoPayloads: what a caller sends reaches neither viewers nor the log by the
// text of an error.
func TestErrorsQuoteNoPayloads(t *testing.T) {
	t.Parallel()
	const card = "card-4111"
	s := start(t, untilDone)
	s.command("iam.user.put", map[string]any{"username": "viewer", "password": "correct horse 2", "roles": "viewer"}).wantStatus(t, 200)
	asViewer := header("Authorization", basic("viewer", "correct horse 2"))
	hook := s.create("webhook.quotes", "payloadType", "raw")
	for name, test := range map[string]struct{ step, payload string }{
		"an anchor":    {"convert.fromYaml: {input: '#{body.payload}'}", "a: *" + card},
		"a tag":        {"convert.fromYaml: {input: '#{body.payload}'}", "a: !" + card + " b"},
		"an element":   {"convert.fromJson: {input: '#{body.payload}'}, convert.toXml", `{"` + card + ` <": 1}`},
		"JSON":         {"convert.fromJson: {input: '#{body.payload}'}", `{"a": ` + card + `}`},
		"a number":     {"set: {value: '#{int(body.payload)}'}", card},
		"a message":    {"fail: {message: '#{body.payload}'}", card},
		"an assertion": {"assert: {true: false, message: '#{body.payload}'}", card},
	} {
		s.store("quotes", "pipeline: [event.listen: {eventKey: webhook.quotes}, "+test.step+"]")
		got := s.call(hook, "text/plain", test.payload).result(t)
		if got.Status != "error" {
			t.Errorf("%s: the run came to %+v", name, got)
		}
		for _, target := range []string{"trace.get?traceId=" + got.TraceID, "deadletter.get"} {
			if seen := string(s.send("GET", "/api/v3/command/"+target, nil, asViewer).wantStatus(t, 200).body); strings.Contains(seen, card) || !strings.Contains(seen, got.TraceID) {
				t.Errorf("%s: %s shows a viewer %s", name, target, seen)
			}
		}
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, card) {
			t.Errorf("the log says %s", line)
		}
	}
}
