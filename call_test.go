package sluice_test

import (
	"testing"

	"sluice"
)

// TestWhichCallsAreReplayed: a pipeline gets no event again that it has handled well,
// though others failed on it.
func TestWhichCallsAreReplayed(t *testing.T) {
	ok := func(pipeline string) sluice.RunReport { return sluice.RunReport{Pipeline: pipeline} }
	failed := func(pipeline, code string) sluice.RunReport {
		return sluice.RunReport{Pipeline: pipeline, Error: &sluice.Problem{Code: code}}
	}
	call := sluice.Call{EventKey: "webhook.a", Status: sluice.StatusError, Runs: []sluice.RunReport{failed("retried", "x"), ok("good"), failed("bad", "x"), ok("retried"), failed("bad", "y")}}
	for _, test := range []struct {
		pipeline string
		status   sluice.Status
		code     string
		want     bool
	}{
		{"", "", "", true},
		{"", sluice.StatusError, "", true},
		{"", sluice.StatusError, "x", true},
		{"", sluice.StatusError, "z", false},
		{"good", "", "", true},
		{"good", sluice.StatusError, "", false},
		{"good", sluice.StatusError, "x", false},
		{"good", "", "x", false},
		{"bad", sluice.StatusError, "", true},
		{"bad", sluice.StatusError, "x", true},
		{"bad", "", "y", true},
		{"retried", sluice.StatusError, "", false},
		{"retried", sluice.StatusError, "x", false},
		{"retried", "", "x", true},
		{"absent", sluice.StatusError, "", false},
	} {
		if got := call.Replays(test.pipeline, test.status, test.code); got != test.want {
			t.Errorf("for the pipeline %q, with status %q and code %q: %v", test.pipeline, test.status, test.code, got)
		}
	}
	for what, c := range map[string]sluice.Call{
		"a replay":        {EventKey: "webhook.a", ReplayOf: "abcdef:mwigq80keaqdmqjb"},
		"a rejected call": {EventKey: "webhook.a", Status: sluice.StatusRejected},
		"a handshake":     {EventKey: "webhook.a", Status: sluice.StatusHandshake},
		"a run by hand":   {TraceID: "direct:mwigq80keaqdmqjb", CorrelationID: "c"},
	} {
		if c.Replays("", "", "") {
			t.Errorf("%s is replayed", what)
		}
	}
	if message := (sluice.Call{Key: "svc.a", Status: sluice.StatusOK}); !message.Replays("", "", "") {
		t.Error("a message is not replayed")
	}
}
