package sender

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestItemsOfACall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		split, body, want string // items joined by a bar; none: there is no list
	}{
		"the body":            {"payload", ` [1, {"a":[2]} ,"x"] `, `1|{"a":[2]}|"x"`},
		"an empty list":       {"payload", `[]`, ``},
		"a member":            {"payload.events", `{"a":1,"events":[ 1 , 2 ]}`, `1|2`},
		"a deeper member":     {"payload.a.b", `{"a":{"b":[true]}}`, `true`},
		"through a list":      {"payload.entry[*].changes", `{"entry":[{"changes":[1,2]},{"changes":[]},{"changes":[3]}]}`, `1|2|3`},
		"through two lists":   {"payload.a[*].b[*].c", `{"a":[{"b":[{"c":[1]},{"c":[2]}]}]}`, `1|2`},
		"no list":             {"payload", `{"a":1}`, `none`},
		"no member":           {"payload.events", `{"event":[1]}`, `none`},
		"a member of a list":  {"payload.events", `[{"events":[1]}]`, `none`},
		"one without its own": {"payload.entry[*].changes", `{"entry":[{"changes":[1]},{"messaging":[2]}]}`, `none`},
		"off":                 {"off", `[1]`, `none`},
	} {
		items, found := ParseSplit(test.split).Items([]byte(test.body))
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = string(item)
		}
		got := strings.Join(texts, "|")
		if !found {
			got = "none"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestItemIDs: an item has its own id where it can have one, otherwise that of the call with its place.
func TestItemIDs(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Id": {"h"}}
	for _, test := range []struct{ split, dedupe, body, want string }{
		{"payload", "item:id", `[{"id":1},{"id":"b"}]`, "1|b"},
		{"payload", "item:id,at", `[{"id":1,"at":2},{"id":1,"at":3},{"id":1}]`, "1 2|1 3|"},
		{"payload", "item:id,at", `[{"id":"a b","at":"c"},{"id":"a","at":"b c"}]`, `"a b" c|a b c`},
		{"payload", "body:0.id", `[{"id":1},{"id":2}]`, "1|2"},
		{"payload", "body:0.id", `[{"id":1}]`, "1"},
		{"payload.e[*].c", "body:e.0.c.0.id", `{"e":[{"c":[{"id":1},{"id":2}]}]}`, "1|2"},
		{"payload.e", "body:id", `{"id":"x","e":[{},{"id":"own"}]}`, "x/0|own"},
		{"payload", "header:X-Id", `[1,2]`, "h/0|h/1"},
		{"payload", "off", `[1,2]`, "|"},
	} {
		split := ParseSplit(test.split)
		ids, err := ParseDedupe(split.Within(test.dedupe))
		if err != nil {
			t.Fatal(err)
		}
		call := &Call{Header: header, Body: []byte(test.body)}
		items, _ := split.Items(call.Body)
		var got []string
		for i, item := range items {
			id, err := ids.ItemID(call, &Call{Header: header, Body: item}, i)
			if err != nil {
				t.Error(err)
			}
			got = append(got, id)
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s of %s: %q, want %s", test.dedupe, test.body, got, test.want)
		}
	}
	same, err := ParseDedupe("content")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := same.ItemID(&Call{}, &Call{Body: []byte("1")}, 0)
	b, _ := same.ItemID(&Call{}, &Call{Body: []byte("1")}, 7)
	if a != b || a == "" {
		t.Errorf("the same item has the ids %q and %q", a, b)
	}
}

// TestPresetsSplitTheirSamples: what known senders send is split as they say, and each item has its id
// and its kind.
func TestPresetsSplitTheirSamples(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range Presets() {
		if p.Split == "" {
			continue
		}
		names = append(names, p.Name)
		split := SplitOf("auto", p.Split, "application/json")
		ids, err := ParseDedupe(split.Within(p.Dedupe))
		if err != nil {
			t.Fatal(err)
		}
		ofCall, err := ParseDedupe(p.Dedupe)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Samples() {
			seen := map[string]bool{"": slices.Contains(withoutID, p.Name+"/"+s.Name)}
			for range 2 { // a sample that is sent again is a new one
				call := &Call{Header: headerOf(s), Body: []byte(s.Body)}
				ofCall.Renew(call, p.Split)
				items, found := split.Items(call.Body)
				if p.Name == "cloudevents" && !found {
					continue // it is no batch
				}
				if len(items) == 0 {
					t.Errorf("%s, %s: there is no list", p.Name, s.Name)
				}
				for i, item := range items {
					header := http.Header{"Content-Type": {ItemType(s.ContentType)}}
					id, err := ids.ItemID(call, &Call{Header: header, Body: item}, i)
					if err != nil || (id == "" || seen[id]) != seen[""] {
						t.Errorf("%s, %s: the id of item %d is %q, %v", p.Name, s.Name, i, id, err)
					}
					seen[id] = true
				}
			}
		}
	}
	if got := strings.Join(names, " "); got != "adyen azure-event-grid cloudevents hubspot line meta microsoft-graph sendgrid xero" {
		t.Errorf("split by their presets: %s", got)
	}
	if SplitOf("auto", "", "application/cloudevents-batch+json; charset=utf-8") == nil || SplitOf("auto", "", "application/json") != nil || SplitOf("", "payload", "application/json") != nil {
		t.Error("auto does not count as it must")
	}
}
