package sluice_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"sluice"
	"sluice/value"
)

// TestRecordsJSON: what is written without encoding/json, for speed, is what that would
// write.
func TestRecordsJSON(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 600, time.UTC)
	problem := &sluice.Problem{Type: "urn:x", Code: "boom", Status: 500, Detail: "a \"b\"", Position: sluice.Position{Line: 3}}
	for name, record := range map[string]any{
		"rejected call":        &sluice.Call{Time: at, TraceID: "none:1", Status: sluice.StatusRejected, StatusCode: 404, Code: "token-unknown", RemoteAddr: "127.0.0.1:1"},
		"accepted call":        &sluice.Call{Time: at, TraceID: "abcdef:1", CorrelationID: "c", EventKey: "webhook.a", Status: sluice.StatusProcessing, StatusCode: 200, Size: 7, Duration: 0.001, Listeners: []string{"a", "b"}, Count: 2},
		"message":              &sluice.Call{Time: at, TraceID: "direct:1", Key: "a.b", ReplayOf: "direct:0", Status: sluice.StatusOK, Duration: 1234567.89},
		"outcome":              &sluice.Outcome{Pipeline: "p", Status: sluice.StatusOK, StatusCode: 200, Value: json.RawMessage(`{"a":1}`), Attempts: 1, Finished: at},
		"failure":              &sluice.Outcome{Pipeline: "p", Status: sluice.StatusError, StatusCode: 500, Error: problem, Said: &sluice.Said{Message: "a \"b\"", StatusCode: 422}, Attempts: 4, Finished: at},
		"run that did nothing": &sluice.RunReport{TraceID: "abcdef:1", Attempt: 1, Started: at, Status: sluice.StatusOK, Steps: []sluice.StepReport{}},
		"run": &sluice.RunReport{Pipeline: "p", TraceID: "abcdef:1", CorrelationID: "c", EventKey: "webhook.a", Attempt: 2, Delivery: 1, Started: at, Duration: 5.125, Status: sluice.StatusError, Error: problem, Next: at.Add(time.Minute), Steps: []sluice.StepReport{
			{Command: "set", ID: "first", Line: 2, Started: 1, Duration: 2, Status: sluice.StatusOK},
			{Command: "iam.run.as", Line: 2, Status: sluice.StatusOK, User: "ada"},
			{Command: "http.request", Line: 2, Status: sluice.StatusOK, HTTP: &sluice.Exchange{Method: "GET", URL: "http://a/b", StatusCode: 200, Request: "a: \"b\"\n\n", Response: "c"}},
			{Command: "http.forward", Line: 2, Status: sluice.StatusOK, HTTP: &sluice.Exchange{Method: "POST", Host: "a"}},
			{Command: "fail", Line: 3, Started: 3, Duration: 1, Status: sluice.StatusError, Code: "boom"},
		}},
	} {
		want, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if got := value.AppendRecord(nil, record); string(got) != string(want) {
			t.Errorf("%s is written as %s, want %s", name, got, want)
		}
	}
}

// TestRecordsAsTheyAreShown: the JSON of records is a part of the interface.
func TestRecordsAsTheyAreShown(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 600, time.UTC)
	run := sluice.RunReport{Status: sluice.StatusOK, Attempt: 1, Started: at, Duration: 1.5, Steps: []sluice.StepReport{}}
	for want, record := range map[string]any{
		`{"traceId":"none:1","time":"2025-01-02T03:04:05.0000006Z","status":"rejected","statusCode":404,"code":"c","size":0,"duration":0.001,"runs":[]}`:                                                                               &sluice.Call{TraceID: "none:1", Time: at, Status: sluice.StatusRejected, StatusCode: 404, Code: "c", Duration: sluice.Milliseconds(1400), Runs: []sluice.RunReport{}},
		`{"traceId":"a:1","time":"2025-01-02T03:04:05.0000006Z","status":"","size":0,"duration":0,"runs":[{"pipeline":"","status":"ok","attempt":1,"delivery":0,"started":"2025-01-02T03:04:05.0000006Z","duration":1.5,"steps":[]}]}`: &sluice.Call{TraceID: "a:1", Time: at, Runs: []sluice.RunReport{run}},
		`{"time":"2025-01-02T03:04:05.0000006Z","accepted":1,"processing":0,"retrying":0,"ok":0,"error":0,"recovered":0,"rejected":0,"unavailable":0,"runs":0,"runErrors":0,"p50":0.25,"p99":0.5}`:                                     &sluice.Minute{Time: at, CallFigures: sluice.CallFigures{Accepted: 1}, P50: 0.25, P99: 0.5},
		`{"pipeline":"p","waiting":0,"retrying":0,"deadLetters":0}`: &sluice.PipelineStats{Pipeline: "p"},
	} {
		got, err := json.Marshal(record)
		if err != nil || string(got) != want {
			t.Errorf("%v: a record is shown as\n%s, want\n%s", err, got, want)
		}
	}
}

// TestMinutesOfEarlierVersions: minutes are read as they are written, and as earlier
// versions wrote them.
func TestMinutesOfEarlierVersions(t *testing.T) {
	want := sluice.Minute{
		Time: time.Date(2025, 1, 2, 3, 4, 0, 0, time.UTC), CallFigures: sluice.CallFigures{Accepted: 5, Error: 1, Rejected: 3}, Unavailable: 1,
		Runs: 3, Latencies: []int{0, 1},
		Webhooks: map[string]sluice.WebhookFigures{"webhook.a": {CallFigures: sluice.CallFigures{Accepted: 5, Error: 1, Rejected: 3}}},
	}
	now, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for version, stored := range map[string]string{
		"0.2.0": `{"time":"2025-01-02T03:04:00Z","accepted":5,"refused":2,"failed":1,"errors":1,"runs":3,"runErrors":0,"p50":0,"p99":0,"latencies":[0,1],"webhooks":{"webhook.a":{"accepted":5,"refused":3,"errors":1}}}`,
		"now":   string(now),
	} {
		var m sluice.Minute
		if err := json.Unmarshal([]byte(stored), &m); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%s: %v: it is read as %+v", version, err, m)
		}
	}
}
