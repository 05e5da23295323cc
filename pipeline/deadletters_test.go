package pipeline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
)

// withLetters returns a fixture with some dead letters, a minute apart.
func withLetters(count int) *fixture {
	f := newFixture()
	for i := range count {
		event := sluice.Event{EventKey: "webhook.a", TraceID: fmt.Sprint("abcdef:old", i), Hops: 5, Listeners: []string{"p", "q"}, Payload: json.RawMessage(`{"n":1}`)}
		f.letters.kept = append(f.letters.kept, sluice.DeadLetter{
			Letter:   fmt.Sprint("l", i),
			Pipeline: []string{"p", "q"}[i%2],
			TraceID:  event.TraceID,
			Time:     time.Date(2030, 1, 1, 0, i, 0, 0, time.UTC),
			Event:    event.AppendJSON(nil),
		})
	}
	return f
}

// TestLetters: which are shown, and to whom the event itself.
func TestLetters(t *testing.T) {
	f := withLetters(40)
	tests := []struct {
		args  command.Args
		count int
		next  bool
	}{
		{nil, 40, false},
		{command.Args{arg("limit", 20)}, 20, true},
		{command.Args{arg("limit", 20), arg("after", "l29")}, 10, false},
		{command.Args{arg("pipeline", "p")}, 20, false},
		{command.Args{arg("from", "2030-01-01T00:30:00Z")}, 10, false},
		{command.Args{arg("to", "2030-01-01T00:04:00Z")}, 5, false},
		{command.Args{arg("letter", "l3")}, 1, false},
		{command.Args{arg("letter", "none")}, 0, false},
	}
	for _, test := range tests {
		answer, err := f.call(t.Context(), "deadletter.get", test.args...)
		got := object(t, answer, err)
		items := got["items"].([]any)
		if len(items) != test.count || (got["next"] != nil) != test.next {
			t.Errorf("%v gives %d and next %v, want %d", test.args, len(items), got["next"], test.count)
		}
		for _, item := range items {
			one := len(test.args) == 1 && test.args[0].Name == "letter"
			if shown := item.(map[string]any)["event"] != nil; shown != one {
				t.Errorf("%v: the event is shown: %t", test.args, shown)
			}
		}
	}
	_, err := f.call(t.Context(), "deadletter.get", arg("from", "yesterday"))
	pipelinetest.Refused(t, err, "parameter-invalid", "from must be a time")

	viewer := sluice.User{Name: "viewer", Permissions: []string{sluice.MayRead}}
	get, _ := f.set.Find("deadletter.get")
	answer, err := f.set.Call(sluice.WithUser(t.Context(), viewer), get, command.Args{arg("letter", "l3")})
	if got := show(t, answer, err); strings.Contains(got, `"event"`) {
		t.Errorf("a viewer sees %s", got)
	}
}

// TestReplay: the event goes to its pipeline alone, as a call of its own.
func TestReplay(t *testing.T) {
	f := withLetters(40)
	_, err := f.call(t.Context(), "deadletter.replay", arg("letter", "l3"))
	pipelinetest.Refused(t, err, "pipeline-not-listening", `"q" no longer listens to svc.event.webhook.a`)
	f.put(t, "q", "pipeline:\n- event.listen: {key: webhook.b}\n- pass")
	_, err = f.call(t.Context(), "deadletter.replay", arg("letter", "l3"))
	pipelinetest.Refused(t, err, "pipeline-not-listening", "")
	f.put(t, "p", listening+"- pass")
	f.put(t, "q", "pipeline:\n- event.listen: {key: webhook.#}\n- pass")
	answer, err := f.call(t.Context(), "deadletter.replay", arg("letter", "l3"))
	got := object(t, answer, err)
	item := got["items"].([]any)[0].(map[string]any)
	if got["replayed"] != 1.0 || item["letter"] != "l3" || item["correlationId"] != "c1" {
		t.Errorf("the answer is %v", got)
	}
	e := f.letters.accepted[0]
	if e.To != "q" || e.ReplayOf != "abcdef:old3" || e.TraceID == "abcdef:old3" || !strings.HasPrefix(e.TraceID, "abcdef:") || e.TraceID != item["traceId"] ||
		e.Hops != 0 || e.Listeners != nil || string(e.Payload) != `{"n":1}` || e.EventKey != "webhook.a" {
		t.Errorf("the event is %+v", e)
	}
	answer, err = f.call(t.Context(), "deadletter.replay", arg("pipeline", "p"), arg("limit", 18))
	if got := object(t, answer, err); got["replayed"] != 18.0 {
		t.Errorf("replayed are %v", got["replayed"])
	}
	answer, err = f.call(t.Context(), "deadletter.delete", arg("pipeline", "p"))
	if got := show(t, answer, err); got != `{"deleted":2}` {
		t.Errorf("the answer is %s", got)
	}
	for _, name := range []string{"deadletter.replay", "deadletter.delete"} {
		_, err = f.call(t.Context(), name)
		pipelinetest.Refused(t, err, "parameter-invalid", "Say which")
		_, err = f.call(t.Context(), name, arg("limit", 5))
		pipelinetest.Refused(t, err, "parameter-invalid", "Say which")
		_, err = f.call(t.Context(), name, arg("letter", "none"))
		pipelinetest.Refused(t, err, "letter-unknown", `"none"`)
	}
}

// TestALetterThatCanNotBeRead is left where it is, and keeps no other from being
// replayed.
func TestALetterThatCanNotBeRead(t *testing.T) {
	f := withLetters(4)
	f.put(t, "p", listening+"- pass")
	f.letters.kept[0].Event = json.RawMessage(`"what another program has sent"`)
	answer, err := f.call(t.Context(), "deadletter.replay", arg("pipeline", "p"))
	if got := object(t, answer, err); got["replayed"] != 1.0 || got["skipped"] != 1.0 {
		t.Errorf("the answer is %v", got)
	}
	_, err = f.call(t.Context(), "deadletter.replay", arg("letter", "l0"))
	pipelinetest.Refused(t, err, "letter-unreadable", `"l0"`)
}
