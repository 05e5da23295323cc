package api

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"sluice"
	"sluice/limit"
)

// TestFailuresAreLoggedAtABoundedPace: callers can cause failures as often as they like, and all calls wait for
// the log. A failure of another kind is logged all the same.
func TestFailuresAreLoggedAtABoundedPace(t *testing.T) {
	var log bytes.Buffer
	a := &API{failures: limit.NewTries(20, time.Hour)}
	a.Log = slog.New(slog.NewTextHandler(&log, nil))
	lines := func(code sluice.Code, times int) int {
		log.Reset()
		for range times {
			a.report(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil),
				code.Errorf("Try again.").Because(errors.New("why")))
		}
		return bytes.Count(log.Bytes(), []byte("\n"))
	}
	if n := lines(sluice.CodeSenderKeysUnavailable, 100); n != 20 {
		t.Errorf("100 failures make %d lines", n)
	}
	if n := lines(sluice.CodeEngineUnavailable, 1); n != 1 {
		t.Errorf("one of another kind makes %d lines", n)
	}
}
