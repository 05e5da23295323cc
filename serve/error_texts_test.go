package serve_test

import (
	"net/http"
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
	asViewer := func(r *http.Request) { r.SetBasicAuth("viewer", "correct horse 2") }
	hook := s.create("webhook.quotes", "payloadType", "raw")
	tail, last := s.follow(t, "", asViewer), ""
	for name, test := range map[string]struct{ step, payload string }{
		"an anchor":    {"convert.fromYaml: {input: '#{body.payload}'}", "a: *" + card},
		"a tag":        {"convert.fromYaml: {input: '#{body.payload}'}", "a: !" + card + " b"},
		"an element":   {"convert.fromJson: {input: '#{body.payload}'}, convert.toXml", `{"` + card + ` <": 1}`},
		"JSON":         {"convert.fromJson: {input: '#{body.payload}'}", `{"a": ` + card + `}`},
		"a number":     {"set: {value: '#{int(body.payload)}'}", card},
		"a message":    {"fail: {message: '#{body.payload}'}", card},
		"a host":       {"iam.run.as: {username: admin}, http.request: {url: 'http://#{body.payload}.invalid/'}", card},
		"a name":       {"iam.run.as: {username: admin}, pipeline.run: {name: '#{body.payload}'}", card},
		"CSV":          {"convert.fromCsv: {input: '#{body.payload}'}", card + "," + card + "\n1,2"},
		"CSV, a quote": {"convert.fromCsv: {input: '#{body.payload}'}", "a\n\"" + card + "\"x"},
		"a member":     {"set: {value: '#{body.payload.x}'}", card},
		"a comparison": {"set: {value: '#{body.payload + 1}'}", card},
		"a time":       {"set: {value: '#{date(body.payload)}'}", card},
		"an assertion": {"assert: {true: false, message: '#{body.payload}'}", card},
	} {
		s.store("quotes", "pipeline: [event.listen: {eventKey: webhook.quotes}, "+test.step+"]")
		got := s.call(hook, "text/plain", test.payload).result(t)
		if got.Status != "error" {
			t.Errorf("%s: the run came to %+v", name, got)
		}
		last = got.TraceID
		for _, target := range []string{"trace.get?traceId=" + got.TraceID, "deadletter.get"} {
			if seen := string(s.send("GET", "/api/v3/command/"+target, nil, asViewer).wantStatus(t, 200).body); strings.Contains(seen, card) || !strings.Contains(seen, got.TraceID) {
				t.Errorf("%s: %s shows a viewer %s", name, target, seen)
			}
		}
	}
	for ended := false; !ended; {
		_, _, seen := tail.next(t)
		if strings.Contains(seen, card) {
			t.Errorf("the live tail says %s", seen)
		}
		ended = strings.Contains(seen, last) && strings.Contains(seen, `"steps"`)
	}
	if found := string(s.send("GET", "/api/v3/command/trace.get?search="+card, nil, asViewer).wantStatus(t, 200).body); strings.Contains(found, hook.UUID[len(hook.UUID)-6:]) {
		t.Errorf("a viewer finds calls by what their hidden messages say: %s", found)
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, card) {
			t.Errorf("the log says %s", line)
		}
	}
}
