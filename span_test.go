package sluice_test

import (
	"context"
	"testing"

	"sluice"
)

// TestSpansOfNobody: where no tool collects spans, they cost no memory, since
// every call of a webhook is one.
func TestSpansOfNobody(t *testing.T) {
	var spans sluice.Spans
	var done int
	ctx := t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		_ = spans.Do(ctx, sluice.Span{Name: "work", Subject: "thing", SpanFacts: sluice.SpanFacts{User: "someone"}}, func(inner context.Context) error {
			spans.Add(inner, sluice.SpanFacts{StatusCode: 200})
			if inner == ctx && spans.Traceparent(inner) == "" {
				done++
			}
			return nil
		})
	})
	if allocations != 0 || done != 101 {
		t.Errorf("the work was done %d times, with %v allocations each", done, allocations)
	}
}
