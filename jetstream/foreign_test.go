package jetstream

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestForeignEvents: a program that publishes to the same engine starts pipelines.
// Missing fields are filled in, the call is found again, its id is unique, and a message
// that can't be read becomes a dead letter.
func TestForeignEvents(t *testing.T) {
	t.Parallel()
	s := natstest.Start(natstest.Options())
	e := openEngine(t, Options{URL: s.ClientURL(), Replicas: 1})
	nc, err := nats.Connect(s.ClientURL())
	check(t, err)
	defer nc.Close()
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.foreign", 1)
	runs := make(chan sluice.Delivery, 10)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d
		return ok(p.Name, `"done"`), nil
	})
	publish := func(text string) sluice.Delivery {
		t.Helper()
		check(t, nc.Publish(sluice.EventPrefix+"webhook.foreign", []byte(text)))
		select {
		case d := <-runs:
			return d
		case <-time.After(patience):
			t.Fatalf("%s starts nothing", text)
			return sluice.Delivery{}
		}
	}
	for name, text := range map[string]string{
		"nothing in it":        `{}`,
		"another key":          `{"eventKey":"webhook.other","hops":-5}`,
		"other types":          `{"eventKey":1,"traceId":["x"],"receivedAt":7,"listeners":"p"}`,
		"a spoilt trace id":    `{"traceId":"a b\n","receivedAt":"yesterday"}`,
		"a payload of its own": `{"payload":{"n":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := publish(text)
			if _, ok := sluice.TraceTime(d.TraceID); !ok || d.Message["traceId"] != d.TraceID {
				t.Errorf("the trace id is %q, that of the message %v", d.TraceID, d.Message["traceId"])
			}
			if d.Message["eventKey"] != "webhook.foreign" || d.Message["receivedAt"] == nil || d.Hops != 0 {
				t.Errorf("the message is %v, with %d hops", d.Message, d.Hops)
			}
			result, err := e.Results.Result(t.Context(), d.CorrelationID, patience)
			if err != nil || string(result.Value) != `"done"` {
				t.Errorf("the result is %s (%v)", result.Value, err)
			}
			calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{TraceID: d.TraceID, Limit: 10})
			if err != nil || len(calls) != 1 || calls[0].EventKey != "webhook.foreign" || calls[0].Status != sluice.StatusOK {
				t.Errorf("the calls found are %+v (%v)", calls, err)
			}
			stored, err := e.Journal.Event(t.Context(), d.CorrelationID)
			if err != nil || stored.TraceID != d.TraceID || stored.EventKey != "webhook.foreign" {
				t.Errorf("the event is %+v (%v)", stored, err)
			}
		})
	}
	shared := `{"traceId":"mine:1","receivedAt":"2026-01-02T03:04:05Z","listeners":["p"]}`
	one, two := publish(shared), publish(shared)
	if one.TraceID != "mine:1" || one.CorrelationID[:18] == two.CorrelationID[:18] {
		t.Errorf("two events of the trace %s have the ids %s and %s", one.TraceID, one.CorrelationID, two.CorrelationID)
	}
	for _, text := range []string{"", "no JSON", "[1]", "\xff"} {
		check(t, nc.Publish(sluice.EventPrefix+"webhook.foreign", []byte(text)))
	}
	natstest.Eventually(t, "what can't be read is counted", func() bool { return e.Queue.Unreadable() == 4 })
	letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Pipeline: "p", Limit: 10})
	check(t, err)
	if len(letters) != 4 || letters[0].Error.Code != "event-unreadable" || !strings.Contains(string(letters[2].Event), "no JSON") {
		t.Errorf("the letters are %+v", letters)
	}
	for _, l := range letters {
		if _, err := e.Results.Result(t.Context(), l.CorrelationID, 0); sluice.AsError(err).Kind != sluice.Gone {
			t.Errorf("the result of what can't be read is %v", err)
		}
	}
}
