package sluice_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"sluice"
	"sluice/problem"
)

// TestResultJSON: a result is written as encoding/json would write it, so that
// a call and a poll for it are answered alike.
func TestResultJSON(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	result := sluice.Accepted("abcdef:0123456789", "0b9f3c1e-6a52-8d0e-9f4e-2f1f7f2f9a10", at)
	result.PollingRedirectEnabled = true
	want, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.AppendJSON([]byte("{}")); string(got) != "{}"+string(want) {
		t.Errorf("the result is %s, want %s", got, want)
	}
	if !bytes.Contains(want, []byte(`"created":"2025-01-02T02:04:05.0000006Z"`)) {
		t.Errorf("created is not in UTC: %s", want)
	}
}

// TestResultJSONOfAFailure: so are failures, whatever their texts are made of.
func TestResultJSONOfAFailure(t *testing.T) {
	shown := problem.Of(sluice.Code("step-failed").Errorf("a < b && c > \"d\" \u2028 é\n").OfKind(sluice.Invalid))
	result := sluice.Combine([]string{"p"}, map[string]sluice.Outcome{"p": {Pipeline: "p", Status: sluice.StatusError, StatusCode: 400, Error: shown}},
		"abcdef:0123456789", "0b9f3c1e-6a52-8d0e-9f4e-2f1f7f2f9a10", time.Unix(0, 0))
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		t.Fatal(err)
	}
	if got := string(result.AppendJSON(nil)) + "\n"; got != want.String() {
		t.Errorf("the result is %s, want %s", got, want.String())
	}
}

// FuzzResultJSON: whatever an id is, the result is JSON that says it.
func FuzzResultJSON(f *testing.F) {
	f.Add("abcdef:0123456789", "0b9f3c1e-6a52-8d0e-9f4e-2f1f7f2f9a10")
	f.Add("\"\\\xff", "\x00\u2028")
	f.Fuzz(func(t *testing.T, traceID, correlationID string) {
		result := sluice.Accepted(traceID, correlationID, time.Unix(0, 0))
		want, err := json.Marshal(map[string]any{
			"statusCode": 200, "status": "ok", "pollingRedirectEnabled": false, "created": "1970-01-01T00:00:00Z",
			"value":         map[string]string{"status": "OK", "traceId": traceID},
			"correlationId": correlationID, "traceId": traceID,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := object(t, result.AppendJSON(nil)); !jsonEqual(got, object(t, want)) {
			t.Fatalf("the result is %v, want %s", got, want)
		}
	})
}

func jsonEqual(a, b map[string]any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// Pages and tables have their own words for two statuses, and both words mean
// the same.
func TestStatusWords(t *testing.T) {
	for status, word := range map[sluice.Status]string{
		sluice.StatusOK: "ok", sluice.StatusProcessing: "processing", sluice.StatusHandshake: "handshake",
		sluice.StatusError: "failed", sluice.StatusRejected: "rejected",
	} {
		if got := status.Word(); got != word {
			t.Errorf("%s is called %s", status, got)
		}
		for _, said := range []string{word, string(status)} {
			if got := sluice.StatusOf(said); got != status {
				t.Errorf("%s means %s", said, got)
			}
		}
	}
}
