package sender

import (
	"strings"
	"testing"

	"sluice"
)

func TestEventType(t *testing.T) {
	long := strings.Repeat("x", 201)
	for name, test := range map[string]struct{ place, body, want string }{
		"a header":              {"header:X-GitHub-Event", "", "push"},
		"a header as it comes":  {"header:x-github-event", "", "push"},
		"no such header":        {"header:X-Other", "", ""},
		"a long header":         {"header:X-Long", "", ""},
		"a header in Latin 1":   {"header:X-Latin", "", ""},
		"the query":             {"query:kind", "", "paid"},
		"not in the query":      {"query:type", "", ""},
		"a member":              {"body:type", `{"data":{"type":"no"},"type":"invoice.paid"}`, "invoice.paid"},
		"a member of a member":  {"body:event.type", `{"event":{"type":"app_mention"}}`, "app_mention"},
		"of the only item":      {"body:0.event", `[{"event":"open"}]`, "open"},
		"of one of two":         {"body:0.event", `[{"event":"open"},{"event":"click"}]`, ""},
		"a number":              {"body:type", `{"type":2}`, "2"},
		"true":                  {"body:type", `{"type": true }`, "true"},
		"false":                 {"body:type", `{"type":false}`, "false"},
		"null":                  {"body:type", `{"type":null}`, ""},
		"an object":             {"body:type", `{"type":{"a":1}}`, ""},
		"200 bytes":             {"body:type", `{"type":"` + long[1:] + `"}`, long[1:]},
		"201 bytes":             {"body:type", `{"type":"` + long + `"}`, ""},
		"with a control":        {"body:type", `{"type":"a\u0000"}`, ""},
		"escaped":               {"body:type", `{"t\u0079pe":"\u00fc"}`, "ü"},
		"no JSON":               {"body:type", `type=1`, ""},
		"cut off":               {"body:type", `{"type":"a`, ""},
		"off":                   {"off", `{"type":"a"}`, ""},
		"of a CloudEvent":       {"cloudevent", "", "order.paid"},
		"of one, by default":    {"", "", "order.paid"},
		"a place that is wrong": {"cookie:a", "", ""},
	} {
		e := &sluice.Event{
			Headers: sluice.Headers{{Name: "x-github-event", Value: "push"}, {Name: "x-latin", Value: "\xff"}, {Name: "x-long", Value: long}},
			Query:   map[string][]string{"kind": {"paid", "unpaid"}}, CE: &sluice.CloudEvent{Type: "order.paid"},
		}
		if got := EventType(test.place, e, []byte(test.body)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestEventTypePlaces(t *testing.T) {
	for _, place := range []string{"", "off", "cloudevent", "header:X-A", "query:a", "body:a.b"} {
		if !IsEventType(place) {
			t.Errorf("%q is refused", place)
		}
	}
	for _, place := range []string{
		"on", "type", "content", "mailgun", "header:", "header:a b", "query:", "body:", "body:a..b", "off:x", "body:\xff", "query:" + strings.Repeat("a", 300),
	} {
		if IsEventType(place) {
			t.Errorf("%q is taken", place)
		}
	}
}

// TestSamplesNameTheirKind: where a preset says, every sample has a kind, but for a command that people
// enter, and for a batch, whose items have one each.
func TestSamplesNameTheirKind(t *testing.T) {
	without := map[string]bool{"slack/slash-command": true, "hubspot/contact-created": true, "cloudevents/batch": true}
	kinds := 0
	for _, p := range Presets() {
		if !IsEventType(p.EventType) {
			t.Errorf("%s: %q", p.Name, p.EventType)
		}
		if p.EventType == "" {
			continue
		}
		kinds++
		for _, s := range p.Samples() {
			e := &sluice.Event{}
			for name, values := range headerOf(s) {
				e.Headers = append(e.Headers, sluice.Header{Name: strings.ToLower(name), Value: values[0]})
			}
			call := Call{Header: headerOf(s), Body: []byte(s.Body)}
			if ce, ok := call.CloudEvent(); ok {
				e.CE = &ce
			}
			if kind := EventType(p.EventType, e, []byte(s.Body)); (kind == "") != without[p.Name+"/"+s.Name] {
				t.Errorf("%s/%s is of the kind %q", p.Name, s.Name, kind)
			}
		}
	}
	if kinds < 60 {
		t.Errorf("only %d presets name a kind", kinds)
	}
}
