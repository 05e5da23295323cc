package pipeline_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/pipeline"
)

// past is a journal of events that nobody has run on, counted from the newest.
type past struct {
	sluice.Journal // of which nothing else is asked

	events int
	read   int
}

func (p *past) Calls(_ context.Context, q sluice.TraceQuery) (calls []sluice.Call, next string, err error) {
	at, _ := strconv.Atoi(q.Before)
	for ; at < p.events && len(calls) < q.Limit; at++ {
		id := strconv.Itoa(at)
		calls = append(calls, sluice.Call{TraceID: "abcdef:" + id, CorrelationID: id, EventKey: q.EventKey, Status: sluice.StatusOK})
		if at%10 == 5 { // these have no event
			calls[len(calls)-1].CorrelationID = ""
		}
		if at%10 == 6 {
			calls[len(calls)-1].ReplayOf = "abcdef:0"
		}
	}
	if at < p.events {
		next = strconv.Itoa(at)
	}
	return calls, next, nil
}

func (p *past) Reached(context.Context, string) (time.Time, error) { return time.Time{}, nil }

func (p *past) Event(_ context.Context, correlationID string) (sluice.Event, error) {
	p.read++
	if correlationID == "7" {
		return sluice.Event{}, sluice.Errorf(sluice.CodeEventGone, "It is gone.")
	}
	return sluice.Event{EventKey: "webhook.a", TraceID: "abcdef:" + correlationID, Payload: []byte(correlationID)}, nil
}

func withPast(p *past) func(*pipeline.RunnerOptions) {
	return func(o *pipeline.RunnerOptions) { o.Journal = p }
}

// try tries a draft.
func (f *fixture) try(ctx context.Context, source string, limit int, after string) (sluice.TryResult, error) {
	out, err := f.call(ctx, "pipeline.try", arg("source", source), arg("limit", limit), arg("after", after))
	found, _ := out.(sluice.TryResult)
	return found, err
}

// TestTryCounts: events are counted, and not what made none, was there before, or
// is gone.
func TestTryCounts(t *testing.T) {
	f := newFixture(withPast(&past{events: 2000}))
	found, err := f.try(t.Context(), listening+"- if: {true: '#{body.payload < 5}', then: [fail: {message: small}]}", 1000, "")
	if err != nil || found.Tried() != 1000 || found.Fails != 5 || found.Differs != 995 || len(found.Items) != 20 || found.Next == "" {
		t.Fatalf("it found %d, %d, %v", found.Tried(), found.Fails, err)
	}
	for i, item := range found.Items[:5] {
		if item.Verdict != sluice.TryFails || item.Was != nil || item.WouldBe.Code != "failed" || item.TraceID != "abcdef:"+strconv.Itoa(i) {
			t.Errorf("item %d is %+v", i, item)
		}
	}
	rest, err := f.try(t.Context(), listening+"- pass", 1000, found.Next)
	if err != nil || found.Tried()+rest.Tried() != 2000-400-1 || rest.Next != "" {
		t.Errorf("the rest is %d, %v", rest.Tried(), err)
	}
}

// TestTryTakesItsTime: a call ends after a while, and says where to go on; nothing
// is waited for in it.
func TestTryTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(withPast(&past{events: 1000}))
		begun := time.Now()
		found, err := f.try(t.Context(), listening+"- slow\n- wait: {duration: 1h}", 1000, "")
		took := time.Since(begun)
		if err != nil || found.Tried() < 8 || found.Tried() > 20 || found.Next == "" || took > 20*time.Second {
			t.Errorf("it found %d in %s, %v", found.Tried(), took, err)
		}
	})
}

// TestTryIsStopped: it ends when its caller has gone, and makes room for others.
func TestTryIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &past{events: 1000}
		f := newFixture(withPast(p))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if _, err := f.try(ctx, listening+"- slow", 1000, ""); !errors.Is(err, context.DeadlineExceeded) || p.read > 4 {
			t.Errorf("it ended with %v after %d events", err, p.read)
		}
		for range 5 {
			if _, err := f.try(t.Context(), listening+"- pass", 1, ""); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestTryOnOneCall: it takes the whole trace id of a call, without which events are
// tried that nobody asked for.
func TestTryOnOneCall(t *testing.T) {
	t.Parallel()
	f := newFixture(withPast(&past{events: 1}))
	const source = listening + "- pass"
	out, err := f.call(t.Context(), "pipeline.try", arg("source", source), arg("traceId", "abcdef:0"))
	if err != nil {
		t.Fatal(err)
	}
	if found := out.(sluice.TryResult); found.Tried() != 1 || len(found.Items) != 1 || found.Items[0].TraceID != "abcdef:0" {
		t.Errorf("it is %+v", found)
	}
	if _, err := f.call(t.Context(), "pipeline.try", arg("source", source), arg("traceId", "abcdef")); sluice.AsError(err).Parameter != "traceId" {
		t.Errorf("a part of a trace id is answered with %v", err)
	}
}
