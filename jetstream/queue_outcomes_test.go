package jetstream

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
	"sluice/problem"
	"sluice/value"
)

func TestAFailureIsADeadLetter(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("letter")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		shown := problem.Of(sluice.Code("no-good").Errorf("No good.").OfKind(sluice.Invalid))
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 3, Finished: time.Now().UTC()}, nil
		})
		result := send(t, e, key, patience)
		if result.Status != sluice.StatusError || result.StatusCode != 500 || result.Error.Code != "pipeline-failed" || result.Value != nil {
			t.Fatalf("the result is %+v", result)
		}
		letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Pipeline: p.Name, Limit: 10})
		if err != nil || len(letters) != 1 {
			t.Fatalf("there are %d dead letters (%v)", len(letters), err)
		}
		l := letters[0]
		if l.TraceID != result.TraceID || l.CorrelationID != result.CorrelationID || l.Attempts != 3 || l.Error.Code != "no-good" || l.EventKey != key || !strings.Contains(string(l.Event), key) {
			t.Errorf("the letter is %+v", l)
		}
		if err := e.DeadLetters.Drop(t.Context(), l.Letter); err != nil {
			t.Fatal(err)
		}
		if err := e.DeadLetters.Drop(t.Context(), l.Letter); sluice.AsError(err).Kind != sluice.NotFound {
			t.Errorf("dropped twice: %v", err)
		}
	})
}

// TestALetterFollowsItsOutcome: without an outcome there is no letter, since the
// event is run again; and an outcome without one gets it, once.
func TestALetterFollowsItsOutcome(t *testing.T) {
	t.Parallel()
	failing := func(p *sluice.Pipeline) sluice.Outcome {
		shown := problem.Of(sluice.Code("no-good").Errorf("No good.").OfKind(sluice.Invalid))
		return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 1, Finished: time.Now().UTC()}
	}
	letters := func(e *Engine) uint64 { return deadLettersOf(t, e) }
	t.Run("no outcome", func(t *testing.T) {
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.letter", 16)
		if err := e.host.JS.DeleteStream(t.Context(), stream.Results); err != nil {
			t.Fatal(err)
		}
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) { return failing(p), nil })
		send(t, e, "webhook.letter", 0)
		natstest.Eventually(t, "the event is delivered again", func() bool {
			info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			return err == nil && info.CachedInfo().NumRedelivered > 0
		})
		if got := letters(e); got != 0 {
			t.Errorf("there are %d letters of an event without an outcome", got)
		}
	})
	t.Run("no letter", func(t *testing.T) {
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.letter", 1)
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			// As if the process had died between the outcome and the letter.
			place, _ := e.Stored.ids.Parse(d.CorrelationID)
			sequence := place.Sequence
			if _, err := e.Queue.Outcomes.Put(t.Context(), sequence, d.TraceID, failing(p)); err != nil {
				t.Error(err)
			}
			return sluice.Outcome{}, errors.New("died")
		})
		send(t, e, "webhook.letter", 0)
		natstest.Eventually(t, "the letter is there", func() bool { return letters(e) == 1 })
		natstest.Eventually(t, "the event is done with", func() bool {
			info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			return err == nil && info.CachedInfo().NumAckPending == 0
		})
		if got := letters(e); got != 1 {
			t.Errorf("there are %d letters of one event", got)
		}
	})
}

func TestAnEventForOnePipeline(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	one := bind(t, e, "one", sluice.EventPrefix+"webhook.shared", 16)
	two := bind(t, e, "two", sluice.EventPrefix+"webhook.shared", 16)
	consume(t, e, one, answering(one, `1`))
	consume(t, e, two, answering(two, `2`))
	direct := keyed("webhook.shared")
	direct.To = "two"
	got, err := e.Events.Accept(t.Context(), direct, patience)
	if err != nil || string(got.Value) != `2` {
		t.Errorf("the result is %s (%v)", got.Value, err)
	}
	direct.To = "three"
	if _, err := e.Events.Accept(t.Context(), direct, 0); sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("an unknown pipeline: %v", err)
	}
}

func TestResultsOfPipelinesThatAreGone(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.gone", 16)
	result := send(t, e, "webhook.gone", 0)
	poll := func() sluice.Result {
		t.Helper()
		got, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := poll(); got.Status != sluice.StatusProcessing {
		t.Errorf("before it ran the status is %s", got.Status)
	}
	if err := e.Queue.Unbind(t.Context(), p.Name, p.Binding); err != nil {
		t.Fatal(err)
	}
	storePipeline(t, e, "p", nil)
	if got := poll(); got.Status != sluice.StatusError || got.Error.Code != "pipeline-gone" {
		t.Errorf("after it was deleted the result is %+v", got)
	}
	bind(t, e, "p", sluice.EventPrefix+"webhook.gone", 16)
	if got := poll(); got.Status != sluice.StatusError {
		t.Errorf("a new one of the same name does not run old events, but the status is %s", got.Status)
	}
}

func TestOutcomesExpire(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), ResultTTL: 300 * time.Millisecond})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.short", 16)
	consume(t, e, p, answering(p, `1`))
	result := send(t, e, "webhook.short", patience)
	natstest.Eventually(t, "the outcome has expired", func() bool {
		_, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
		return err != nil && sluice.AsError(err).Kind == sluice.Gone
	})
}

// TestAnOutcomeIsShownWhenItIsDurable: what a power cut could still take back is not shown,
// and is stored again before its event is acknowledged.
func TestAnOutcomeIsShownWhenItIsDurable(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.durable", 16)
	call := send(t, e, "webhook.durable", 0)
	// An outcome that its writer does not know of is one whose sync is under way.
	found, err := e.Stored.find(t.Context(), call.CorrelationID)
	if err != nil {
		t.Fatal(err)
	}
	key := strconv.FormatUint(e.Stored.ids.Nonce(call.TraceID), 36) + "-" + strconv.FormatUint(found.Sequence, 36)
	first := ok("p", `"first"`)
	if _, err := e.host.JS.Publish(t.Context(), stream.OutcomePrefix+key+".p", value.AppendRecord(nil, &first)); err != nil {
		t.Fatal(err)
	}
	if result, err := e.Results.Result(t.Context(), call.CorrelationID, 0); err != nil || result.Status != sluice.StatusProcessing {
		t.Fatalf("before the sync the result is %+v (%v)", result, err)
	}
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		t.Error("the event is run again")
		return ok("p", `"second"`), nil
	})
	result, err := e.Results.Result(t.Context(), call.CorrelationID, patience)
	if err != nil || string(result.Value) != `"first"` {
		t.Errorf("after the sync the result is %+v (%v)", result, err)
	}
}

// TestNobodyTakesTheResultsOfOthers: where there are too many, by number or by length, the oldest of
// whoever has most go, and it is told.
func TestNobodyTakesTheResultsOfOthers(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{
		"by number": {ResultMaxCount: 1000, ResultMaxBytes: 1 << 30},
		"by length": {ResultMaxCount: 1_000_000, ResultMaxBytes: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Dir = t.TempDir()
			e := openEngine(t, opts)
			results := e.Queue.Outcomes
			put := func(pipeline string, sequence uint64) {
				_, err := results.Put(t.Context(), sequence, "abcdef:0000000000000000", ok(pipeline, `"`+strings.Repeat("x", 100)+`"`))
				check(t, err)
			}
			put("partner.quiet", 1)
			last := uint64(1)
			for ; results.Shares.Dropped() == 0; last++ {
				put("partner.loud", last)
			}
			for _, want := range []struct {
				pipeline string
				sequence uint64
				kept     bool
			}{{"partner.quiet", 1, true}, {"partner.loud", 1, false}, {"partner.loud", last - 1, true}} {
				outcome, err := results.Get(t.Context(), want.sequence, "abcdef:0000000000000000", want.pipeline)
				if err != nil || (outcome != nil) != want.kept {
					t.Errorf("result %d of %s is %v (%v)", want.sequence, want.pipeline, outcome, err)
				}
			}
			stats, err := e.Stats(t.Context())
			check(t, err)
			if stats.CutResults == 0 || !strings.Contains(strings.Join(e.Warnings(), "\n"), "results of the pipeline partner.loud go after ") {
				t.Errorf("the figure is %d, the warnings are %q", stats.CutResults, e.Warnings())
			}
		})
	}
}
