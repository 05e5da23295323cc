package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"sluice"
)

func TestTooLongIsAnErrorOfOurs(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, TooLongError(90*time.Second))
	defer cancel()
	<-ctx.Done()
	first := sluice.AsError(context.Cause(ctx))
	if first.Code != "run-too-long" || !strings.Contains(first.Message, "1m30s") {
		t.Errorf("got %s: %s", first.Code, first.Message)
	}
	first.TraceID = "changed"
	if second := sluice.AsError(context.Cause(ctx)); second.TraceID != "" {
		t.Error("two runs share their error")
	}
}
