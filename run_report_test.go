package sluice_test

import (
	"encoding/json"
	"testing"
	"time"

	"sluice"
)

// TestRecordsJSON: what is written by hand for speed is what encoding/json would
// write.
func TestRecordsJSON(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 600, time.UTC)
	problem := &sluice.Problem{Type: "urn:x", Code: "boom", Status: 500, Detail: "a \"b\"", Line: 3}
	for name, record := range map[string]interface{ AppendJSON(b []byte) []byte }{
		"refused call":         &sluice.Call{Time: at, TraceID: "none:1", Status: 404, Code: "token-unknown", RemoteAddr: "127.0.0.1:1"},
		"accepted call":        &sluice.Call{Time: at, TraceID: "abcdef:1", CorrelationID: "c", EventKey: "webhook.a", Status: 200, Size: 7, Duration: 90, Listeners: []string{"a", "b"}, Count: 2},
		"outcome":              &sluice.Outcome{Pipeline: "p", Status: sluice.StatusOK, StatusCode: 200, Value: json.RawMessage(`{"a":1}`), Attempts: 1, Finished: at},
		"failure":              &sluice.Outcome{Pipeline: "p", Status: sluice.StatusError, StatusCode: 500, Error: problem, Attempts: 4, Finished: at},
		"run that did nothing": &sluice.RunReport{TraceID: "abcdef:1", Attempt: 1, Started: at, Status: sluice.StatusOK, Steps: []sluice.StepReport{}},
		"run": &sluice.RunReport{Pipeline: "p", TraceID: "abcdef:1", CorrelationID: "c", EventKey: "webhook.a", Attempt: 2, Delivery: 1, Started: at, Duration: 5, Status: sluice.StatusError, Error: problem, Steps: []sluice.StepReport{
			{Command: "set", ID: "first", Line: 2, Started: 1, Duration: 2, Status: sluice.StatusOK},
			{Command: "fail", Line: 3, Started: 3, Duration: 1, Status: sluice.StatusError, Code: "boom"},
		}},
	} {
		want, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if got := record.AppendJSON(nil); string(got) != string(want) {
			t.Errorf("%s is written as %s, want %s", name, got, want)
		}
	}
}
