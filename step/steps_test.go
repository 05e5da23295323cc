package step_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/problem"
	"sluice/step"
)

func TestStepsPassTheBodyOn(t *testing.T) {
	body := object{"a": list{1}}
	tests := map[string]struct {
		command string
		args    args
		want    any
	}{
		"set gives its value":  {"set", args{"value": list{1, "x"}}, list{1, "x"}},
		"set gives null":       {"set", args{"value": nil}, nil},
		"log":                  {"log", args{"message": "hello", "body": body}, body},
		"assert":               {"assert", args{"true": true, "body": body}, body},
		"wait":                 {"wait", args{"duration": "0s", "body": body}, body},
		"exit gives its value": {"exit", args{"value": 1}, 1},
		"exit without a body":  {"exit", nil, nil},
	}
	set := newSet(step.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := call(t.Context(), set, test.command, test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStepsFail(t *testing.T) {
	tests := map[string]struct {
		command string
		args    args
		kind    sluice.Kind
		code    string
		status  int
		says    string
	}{
		"set without a value":      {"set", nil, sluice.Invalid, "parameter-missing", 400, "value"},
		"assert":                   {"assert", args{"true": false}, sluice.Invalid, "assertion-failed", 400, "not true"},
		"assert with a message":    {"assert", args{"true": false, "message": "No 100% name."}, sluice.Invalid, "assertion-failed", 400, "No 100% name."},
		"assert needs a condition": {"assert", args{"message": "x"}, sluice.Invalid, "parameter-missing", 400, "true"},
		"assert takes no text":     {"assert", args{"true": "yes"}, sluice.Invalid, "parameter-invalid", 400, "true or false"},
		"fail":                     {"fail", args{"message": "Broken at 50%d."}, sluice.Internal, "failed", 500, "Broken at 50%d."},
		"fail with a status":       {"fail", args{"message": "Gone.", "statusCode": 410}, sluice.Invalid, "failed", 410, "Gone."},
		"fail with success":        {"fail", args{"message": "x", "statusCode": 200}, sluice.Invalid, "parameter-invalid", 400, "400 to 599"},
		"fail, very long":          {"fail", args{"message": strings.Repeat("ä", 5000)}, sluice.Internal, "failed", 500, "ä…"},
		"wait for too long":        {"wait", args{"duration": "15m1s"}, sluice.Invalid, "parameter-invalid", 400, "to 15m,"},
		"wait for no time":         {"wait", args{"duration": "-1s"}, sluice.Invalid, "parameter-invalid", 400, "duration"},
		"log at a strange level":   {"log", args{"level": "loud"}, sluice.Invalid, "parameter-invalid", 400, "debug, info, warn, error"},
	}
	set := newSet(step.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(t.Context(), set, test.command, test.args)
			refuses(t, err, test.kind, test.code, test.says)
			if status := problem.Status(err); status != test.status {
				t.Errorf("the status is %d", status)
			}
		})
	}
}

func TestExitEndsTheRun(t *testing.T) {
	run := &sluice.Run{}
	if _, err := call(sluice.WithRun(t.Context(), run), newSet(step.Options{}), "exit", nil); err != nil {
		t.Fatal(err)
	}
	if !run.Exited {
		t.Error("the run goes on")
	}
}

func TestWait(t *testing.T) {
	set := newSet(step.Options{})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := call(t.Context(), set, "wait", args{"duration": "15m"}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited != 15*time.Minute {
			t.Errorf("it waited for %s", waited)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := call(ctx, set, "wait", args{"duration": "1m"})
		refuses(t, err, sluice.Unavailable, "interrupted", "interrupted")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the cause is not told: %v", err)
		}
	})
}

func TestLog(t *testing.T) {
	run := &sluice.Run{TraceID: "abc123:x", Pipeline: "greet"}
	tests := map[string]struct {
		args args
		want map[string]any
	}{
		"text":                   {args{"message": "hello"}, object{"level": "INFO", "msg": "hello"}},
		"the body":               {args{"body": object{"a": "<b>"}, "level": "warn"}, object{"level": "WARN", "msg": `{"a":"<b>"}`}},
		"an object":              {args{"message": object{"a": 1}, "level": "error"}, object{"level": "ERROR", "msg": `{"a":1}`}},
		"no forged lines":        {args{"message": "a\nlevel=ERROR \x1b[31mb\u0085", "level": "debug"}, object{"level": "DEBUG", "msg": "a level=ERROR  [31mb "}},
		"a long message is cut":  {args{"message": "x" + strings.Repeat("ä", 8<<10)}, object{"level": "INFO", "msg": "x" + strings.Repeat("ä", 4<<10-1) + "…"}},
		"no body and no message": {nil, object{"level": "INFO", "msg": "null"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var written bytes.Buffer
			log := slog.New(slog.NewJSONHandler(&written, &slog.HandlerOptions{Level: slog.LevelDebug}))
			if _, err := call(sluice.WithRun(t.Context(), run), newSet(step.Options{Log: log}), "log", test.args); err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(written.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			delete(got, "time")
			test.want["traceId"], test.want["pipeline"] = "abc123:x", "greet"
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatIsPure: what tests of pipelines run as it is, and what the audit log
// leaves out.
func TestWhatIsPure(t *testing.T) {
	secrets := newSecrets(t)
	for _, c := range newSet(step.Options{Secrets: secrets}).All() {
		outward := strings.HasPrefix(c.Name, "http.") || slices.Contains([]string{"mail.send", "sql.exec", "kafka.send"}, c.Name)
		pure := !strings.HasPrefix(c.Name, "secret.") && !outward
		if c.Pure != pure {
			t.Errorf("%s: pure is %t", c.Name, c.Pure)
		}
		if c.ReadOnly != (pure || c.Name == "secret.get") {
			t.Errorf("%s: read-only is %t", c.Name, c.ReadOnly)
		}
		if c.Traffic != outward {
			t.Errorf("%s: traffic is %t", c.Name, c.Traffic)
		}
	}
}
