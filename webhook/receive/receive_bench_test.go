package receive

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/limit"
)

type benchSink struct{}

func (benchSink) Accept(_ context.Context, e *sluice.Event, _ time.Duration) (sluice.Result, error) {
	return sluice.Accepted(e.TraceID, "correlation", e.ReceivedAt), nil
}

// BenchmarkReceive is a plain call, without the engine.
func BenchmarkReceive(b *testing.B) {
	bodies := limit.NewBodies(limit.BodyOptions{Pace: limit.Pace{Idle: time.Minute, Total: time.Minute}, Known: 32 << 20, Strange: 16 << 20, Answers: 1 << 20, Unfinished: 100})
	rc := New(Needs{Find: Find{WebhookFinder: finder{}}, Events: benchSink{}, Namespace: "default", Bodies: bodies, Slots: limit.NewSlots(100), Observe: func(sluice.Call) {}, Log: slog.New(slog.DiscardHandler)})
	b.ReportAllocs()
	for b.Loop() {
		call := httptest.NewRequest("POST", "/?token="+known, strings.NewReader("a plain body"))
		if err := rc.serve(newRecorder(), call); err != nil {
			b.Fatal(err)
		}
	}
}
