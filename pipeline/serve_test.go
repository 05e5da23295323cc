package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
)

// serving starts Serve and gives what stops it.
func (f *fixture) serving(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Serve(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

const listening = "pipeline:\n- event.listen: {eventKey: webhook.a}\n"

func delivery() sluice.Delivery {
	return sluice.Delivery{
		Message:       map[string]any{"eventKey": "webhook.a", "correlationId": "corr", "payload": map[string]any{"n": 1}, "method": "POST", "query": map[string]any{"q": []any{"x"}}, "headers": map[string]any{"h": "v"}},
		TraceID:       "abcdef:0123456789",
		CorrelationID: "corr",
		Hops:          3,
		Count:         2,
	}
}

// TestDeliver: what an event comes to.
func TestDeliver(t *testing.T) {
	tests := []struct {
		name, source string
		failures     int
		want         sluice.Outcome
		says         string // of the error
	}{
		{"the final body", listening + "- set: {value: '#{body.payload.n + 1}'}", 0, sluice.Outcome{Status: "ok", StatusCode: 200, Value: json.RawMessage("2"), Attempts: 1}, ""},
		{"what is known of the call", listening + "- set: {value: '#{[request.traceId, request.correlationId, request.deliveryCount, request.attempt, request.method, request.query.q[0], request.headers.h, user.username]}'}", 0,
			sluice.Outcome{Status: "ok", StatusCode: 200, Value: json.RawMessage(`["abcdef:0123456789","corr",2,1,"POST","x","v","anonymousUser"]`), Attempts: 1}, ""},
		{"one attempt by default", listening + "- unsteady", 1, sluice.Outcome{Status: "error", StatusCode: 503, Attempts: 1}, "Step 2, unsteady (line 3): Not now."},
		{"as many as the pipeline says", "retry: {times: 3, backoff: 1m}\n" + listening + "- unsteady", 3, sluice.Outcome{Status: "ok", StatusCode: 200, Value: json.RawMessage(`"steady"`), Attempts: 4}, ""},
		{"and no more", "retry: {times: 3}\n" + listening + "- unsteady", 4, sluice.Outcome{Status: "error", StatusCode: 503, Attempts: 4}, "Not now."},
		{"none after a refusal", "retry: {times: 3}\n" + listening + "- fail: {message: x, statusCode: 409}", 0, sluice.Outcome{Status: "error", StatusCode: 409, Attempts: 1}, "x"},
		{"a step that tries again", listening + "- unsteady: {onError: {retry: {times: 2, wait: 1m}}}", 2, sluice.Outcome{Status: "ok", StatusCode: 200, Value: json.RawMessage(`"steady"`), Attempts: 1}, ""},
		{"a step that tries again in vain", listening + "- unsteady: {onError: {retry: {times: 2, wait: 1m}}}", 3, sluice.Outcome{Status: "error", StatusCode: 503, Attempts: 1}, "Not now."},
		{"a panic", listening + "- panics", 0, sluice.Outcome{Status: "error", StatusCode: 500, Attempts: 1}, "trace id abcdef:0123456789"},
		{"too large a result", listening + "- set: {value: '#{repeat(\"x\", 5000000)}'}", 0, sluice.Outcome{Status: "error", StatusCode: 413, Attempts: 1}, "The final body is larger than 4194304 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.Failures = test.failures
				f.put(t, "p", test.source)
				defer f.serving(t)()
				f.send(t, "p", delivery())
				got := <-f.queue.outcomes
				if got.Pipeline != "p" || got.Status != test.want.Status || got.StatusCode != test.want.StatusCode || got.Attempts != test.want.Attempts || string(got.Value) != string(test.want.Value) {
					t.Errorf("the outcome is %+v (%s), want %+v", got, got.Value, test.want)
				}
				if got.Status == "error" && (!strings.Contains(got.Error.Detail, test.says) || got.Error.TraceID != "abcdef:0123456789") {
					t.Errorf("the error is %+v, want %s", got.Error, test.says)
				}
				if len(f.reports) != got.Attempts {
					t.Errorf("there are %d reports of %d attempts", len(f.reports), got.Attempts)
				}
			})
		})
	}
}

// TestBackoff: attempts wait twice as long each time, up to maxBackoff, a part of
// it at random; answers may ask for longer; and at some time it is enough.
func TestBackoff(t *testing.T) {
	tests := []struct {
		name, retry string
		retryAfter  time.Duration
		failures    int
		attempts    int
		least, most time.Duration // in all
	}{
		{"doubled", "{times: 8, backoff: 1s}", 0, 8, 9, 255 * time.Second, 255 * 5 / 4 * time.Second},
		{"bounded", "{times: 8, backoff: 1s, maxBackoff: 4s}", 0, 8, 9, (3 + 6*3) * time.Second, (3*5/4 + 6*4 + 1) * time.Second},
		{"an hour by default", "{times: 100, backoff: 1h}", 0, 10, 11, 10 * 45 * time.Minute, 10 * time.Hour},
		{"as often as it says", "{times: 2, backoff: 1s}", 0, 9, 3, 3 * time.Second, 4 * time.Second},
		{"given up in time", "{times: 100, backoff: 1m, maxBackoff: 1m, within: 10m}", 0, 99, 0, 8 * time.Minute, 10 * time.Minute},
		{"three days by default", "{times: 100, backoff: 1h}", 0, 99, 0, 71 * time.Hour, 72 * time.Hour},
		{"an answer asks for longer", "{times: 3, backoff: 1s}", time.Minute, 3, 4, 3 * time.Minute, 3 * time.Minute},
		{"an answer asks for less", "{times: 1, backoff: 1m}", time.Second, 1, 2, time.Minute, 75 * time.Second},
		{"an answer asks for years", "{times: 1, backoff: 1s, maxBackoff: 1m}", 90_000 * time.Hour, 1, 2, time.Minute, time.Minute},
		{"an answer asks for the past", "{times: 1, backoff: 1s}", -time.Hour, 1, 2, time.Second, 2 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.Failures, f.RetryAfter = test.failures, test.retryAfter
				f.put(t, "p", "retry: "+test.retry+"\n"+listening+"- unsteady")
				defer f.serving(t)()
				started := time.Now()
				f.send(t, "p", delivery())
				got := <-f.queue.outcomes
				if took := time.Since(started); took < test.least || took > test.most {
					t.Errorf("it took %s, want %s to %s", took, test.least, test.most)
				}
				if test.attempts > 0 && got.Attempts != test.attempts {
					t.Errorf("there were %d attempts, want %d", got.Attempts, test.attempts)
				}
				f.wantAnnounced(t, got.Attempts)
			})
		})
	}
}

// wantAnnounced fails unless the report of each attempt told when the next one began,
// and that of the last one that there was none.
func (f *fixture) wantAnnounced(t *testing.T, attempts int) {
	t.Helper()
	due := time.Time{}
	for range attempts {
		report := <-f.reports
		if !due.IsZero() && !report.Started.Equal(due) {
			t.Errorf("attempt %d began at %s, and was to begin at %s", report.Attempt, report.Started, due)
		}
		due = report.Next
	}
	if !due.IsZero() {
		t.Errorf("after the last attempt another one is said to begin at %s", due)
	}
}

// TestARunThatTheStopCutsOff is given back, and tells of no other attempt.
func TestARunThatTheStopCutsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.Started = make(chan struct{})
		f.put(t, "p", "retry: {times: 3, backoff: 1h}\n"+listening+"- hang")
		stop := f.serving(t)
		f.send(t, "p", delivery())
		<-f.Started
		stop()
		if report := <-f.reports; !report.Next.IsZero() {
			t.Errorf("another attempt is said to begin at %s", report.Next)
		}
	})
}

// TestWhatIsRetried: what may end better another time.
func TestWhatIsRetried(t *testing.T) {
	for status, want := range map[int]int{400: 1, 401: 1, 403: 1, 404: 1, 408: 2, 409: 1, 410: 1, 413: 1, 422: 1, 425: 2, 429: 2, 500: 2, 502: 2, 503: 2, 504: 2, 508: 1, 599: 2} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			f.put(t, "p", fmt.Sprintf("retry: {times: 1}\n%s- fail: {message: x, statusCode: %d}", listening, status))
			defer f.serving(t)()
			f.send(t, "p", delivery())
			if got := <-f.queue.outcomes; got.Attempts != want {
				t.Errorf("after %d there are %d attempts, want %d", status, got.Attempts, want)
			}
		})
	}
}

// TestPause: while a pipeline is paused nothing is taken for it, on whichever
// node; storing it anew does not end that.
func TestPause(t *testing.T) {
	f := newFixture()
	next := func(want string) {
		t.Helper()
		if got := <-f.queue.consumed; got != want {
			t.Fatalf("the queue says %s, want %s", got, want)
		}
	}
	f.put(t, "p", listening+"- pass")
	defer f.serving(t)()
	next("+p b1")
	for range 2 { // twice is as good as once
		answer, err := f.call(t.Context(), "pipeline.pause", arg("name", "p"))
		if got := object(t, answer, err); got["paused"] != true {
			t.Errorf("the answer is %v", got)
		}
	}
	next("-p b1")
	f.put(t, "p", "rate: 10/m\n"+listening+"- pass")
	answer, err := f.call(t.Context(), "pipeline.get", arg("name", "p"))
	if got := object(t, answer, err); got["paused"] != true || got["rate"] != "10/m" {
		t.Errorf("it is shown as %v", got)
	}
	answer, err = f.call(t.Context(), "pipeline.resume", arg("name", "p"))
	if got := object(t, answer, err); got["paused"] != nil {
		t.Errorf("the answer is %v", got)
	}
	next("+p b1")
	f.put(t, "p", "rate: 20/m\n"+listening+"- pass")
	for range 2 { // in whichever order
		if got := <-f.queue.consumed; got != "-p b1" && got != "+p b1" {
			t.Errorf("the queue says %s", got)
		}
	}

	f.put(t, "deaf", "pipeline: [pass]")
	if _, err := f.call(t.Context(), "pipeline.pause", arg("name", "p")); err != nil {
		t.Fatal(err)
	}
	next("-p b1")
	for _, want := range []int{1, 0} { // again is as good as once
		answer, err = f.call(t.Context(), "pipeline.resume", arg("all", true))
		if got := object(t, answer, err)["items"].([]any); len(got) != want {
			t.Errorf("of all, %v were resumed", got)
		}
	}
	next("+p b1")
	for _, args := range [][]command.Arg{nil, {arg("all", false)}, {arg("all", true), arg("name", "p")}} {
		_, err = f.call(t.Context(), "pipeline.resume", args...)
		pipelinetest.Refused(t, err, "parameter-invalid", "name, or all=true")
	}
	for _, name := range []string{"pipeline.pause", "pipeline.resume"} {
		_, err = f.call(t.Context(), name, arg("name", "deaf"))
		pipelinetest.Refused(t, err, "pipeline-not-listening", "nothing to pause")
		_, err = f.call(t.Context(), name, arg("name", "none"))
		pipelinetest.Refused(t, err, "pipeline-unknown", "")
	}
}

// TestReport: a report tells all that was done.
func TestReport(t *testing.T) {
	f := newFixture()
	f.put(t, "p", listening+"- set: {value: 1, id: first}\n- if: {true: true, then: [pass]}\n- set: {value: 2, if: false}\n- fail: {message: x, onError: ignore}\n- panics")
	defer f.serving(t)()
	f.send(t, "p", delivery())
	<-f.queue.outcomes
	got := <-f.reports
	var steps []string
	for _, s := range got.Steps {
		steps = append(steps, s.Command+" "+s.ID+" "+string(s.Status)+" "+s.Code)
	}
	want := []string{"set first ok ", "pass  ok ", "fail  error failed", "panics  error step-panicked"}
	if !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	if got.Pipeline != "p" || got.TraceID != "abcdef:0123456789" || got.CorrelationID != "corr" || got.Attempt != 1 || got.Delivery != 2 || got.Status != "error" || got.Error == nil || got.Started.IsZero() {
		t.Errorf("the report is %+v", got)
	}
}

// TestReportIsBounded: a loop does not make an endless report.
func TestReportIsBounded(t *testing.T) {
	f := newFixture()
	if _, err := f.run(t, "pipeline: [foreach: {in: '#{1..2000}', do: [pass]}]"); err != nil {
		t.Fatal(err)
	}
	if steps := len((<-f.reports).Steps); steps != 500 {
		t.Errorf("it lists %d steps", steps)
	}
}

// TestServeFollows: consumers come and go as pipelines are stored and deleted.
func TestServeFollows(t *testing.T) {
	f := newFixture()
	next := func(want string) {
		t.Helper()
		if got := <-f.queue.consumed; got != want {
			t.Fatalf("the queue says %s, want %s", got, want)
		}
	}
	f.put(t, "early", listening+"- pass")
	stop := f.serving(t)
	next("+early b1")
	f.put(t, "late", listening+"- pass")
	next("+late b2")
	f.put(t, "late", listening+"- set: {value: changed}") // keeps its binding
	f.send(t, "late", delivery())
	if got := <-f.queue.outcomes; string(got.Value) != `"changed"` {
		t.Errorf("the outcome is %s", got.Value)
	}
	f.put(t, "late", "concurrency: 1\n"+listening+"- pass") // keeps it, too, but is consumed anew
	got := []string{<-f.queue.consumed, <-f.queue.consumed}
	slices.Sort(got)
	if !slices.Equal(got, []string{"+late b2", "-late b2"}) {
		t.Errorf("the queue says %v", got)
	}
	if _, err := f.call(t.Context(), "pipeline.delete", arg("name", "late")); err != nil {
		t.Fatal(err)
	}
	next("-late b2")
	stop()
	next("-early b1")
}

// TestStopIsNoAttempt: a run that is cut off by the end of the service has no
// outcome, so that the event is handed out again.
func TestStopIsNoAttempt(t *testing.T) {
	for _, source := range []string{"- hang", "- hang: {onError: ignore}", "- hang: {onError: {retry: {times: 20}}}"} {
		f := newFixture()
		f.Started = make(chan struct{})
		f.put(t, "p", "retry: {times: 20}\n"+listening+source)
		stop := f.serving(t)
		f.send(t, "p", delivery())
		<-f.Started
		stop()
		if err := <-f.queue.errors; !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestTheEnginesAbsenceIsNoAttempt: a run that can't begin, or go on, because the
// engine is away has no outcome either.
func TestTheEnginesAbsenceIsNoAttempt(t *testing.T) {
	away := sluice.CodeEngineUnavailable.Errorf("The engine did not answer.")
	for name, change := range map[string]func(*fixture){
		"before a step": func(f *fixture) {
			f.User = func(context.Context, string) (sluice.User, error) { return sluice.User{}, away }
		},
		"beneath a step": func(f *fixture) {
			f.UseSecret = func(context.Context, string) (string, error) { return "", away }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.put(t, "p", "retry: {times: 3}\n"+listening+"- set: {value: '#{secret(\"s\")}'}")
				change(f)
				defer f.serving(t)()
				f.send(t, "p", delivery())
				select {
				case err := <-f.queue.errors:
					if !sluice.EngineAway(err) {
						t.Errorf("the error is %v", err)
					}
				case got := <-f.queue.outcomes:
					t.Errorf("the outcome is %+v", got)
				}
			})
		})
	}
}

// TestDeleteLetsRunsEnd: what has begun ends in its own way.
func TestDeleteLetsRunsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.put(t, "p", listening+"- wait: {duration: 1m}\n- set: {value: done}")
		defer f.serving(t)()
		f.send(t, "p", delivery())
		synctest.Wait()
		if _, err := f.call(t.Context(), "pipeline.delete", arg("name", "p")); err != nil {
			t.Fatal(err)
		}
		if got := <-f.queue.outcomes; string(got.Value) != `"done"` {
			t.Errorf("the outcome is %+v", got)
		}
	})
}

// TestServeMissesNoChange: not even one that comes while it looks.
func TestServeMissesNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.store.listed = func() { f.put(t, "p", listening+"- pass") }
		stop := f.serving(t)
		synctest.Wait()
		if len(f.queue.consumed) != 1 {
			t.Error("the pipeline is not served")
		}
		stop()
	})
}
