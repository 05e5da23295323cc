package metrics_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
	"sluice/metrics"
)

// TestMinutesOfSeveralNodes: what nodes count adds up, whether it is stored yet
// or not, and is there after a restart.
func TestMinutesOfSeveralNodes(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	sum := func(m *metrics.Minutes) (total sluice.Minute) {
		for _, minute := range m.Last(t.Context(), 5) { // the present one may be over by now
			total.Add(minute.CallFigures)
			total.Unavailable += minute.Unavailable
			total.Runs += minute.Runs
			total.RunErrors += minute.RunErrors
			total.P50 = max(total.P50, minute.P50)
		}
		return total
	}
	ctx, stop := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	for range 2 {
		node := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
		keeping.Go(func() { node.Keep(ctx) })
		now := time.Now()
		node.Call(sluice.Call{EventKey: "webhook.git", Type: "push", StatusCode: 200, CorrelationID: "x", Duration: 1, Time: now})
		node.Call(sluice.Call{StatusCode: 401, Time: now})
		node.Call(sluice.Call{StatusCode: 503, Time: now})
		node.Run(sluice.RunReport{Status: sluice.StatusOK, Started: now})
		node.Run(sluice.RunReport{Status: sluice.StatusError, Started: now})
		if got := sum(node); got.Accepted != 1 || got.Rejected != 2 || got.Unavailable != 1 || got.Runs != 2 || got.RunErrors != 1 {
			t.Errorf("a node counts %+v", got)
		}
	}
	stop()
	keeping.Wait() // what is left is stored at the end
	after := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	if of := after.Webhooks(t.Context(), 1, "webhook.git"); len(of) != 1 || len(of[0].Types) != 1 || of[0].Types[0].Calls != 2 || of[0].Types[0].Type != "push" {
		t.Errorf("together they count the types of %+v", of)
	}
	got := sum(after)
	if got.Accepted != 2 || got.Rejected != 4 || got.Unavailable != 2 || got.Runs != 4 || got.RunErrors != 2 || got.P50 <= 0 {
		t.Errorf("together they count %+v", got)
	}
}

// TestMinutesWaitForTheEngine: what can't be stored is kept and shown.
func TestMinutesWaitForTheEngine(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, MinFreeDisk: 1 << 62, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	m := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	m.Call(sluice.Call{StatusCode: 503, Time: time.Now()})
	over, stop := context.WithCancel(t.Context())
	stop()
	m.Keep(over)
	failed := 0
	for _, minute := range m.Last(t.Context(), 5) {
		failed += minute.Unavailable
	}
	if failed != 1 {
		t.Errorf("%d calls are counted", failed)
	}
}

// TestExpectedWebhooksAreAlwaysNamed: a webhook whose calls are expected has figures of its own,
// however many others are called in that hour; otherwise it would seem silent.
func TestExpectedWebhooksAreAlwaysNamed(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	m := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	m.Expects = func(eventKey string) bool { return eventKey == "webhook.expected" }
	now := time.Now()
	for i := range 600 {
		m.Call(sluice.Call{EventKey: fmt.Sprintf("webhook.w%d", i), CorrelationID: "x", Time: now})
	}
	for _, key := range []string{"webhook.expected", "webhook.other"} {
		m.Call(sluice.Call{EventKey: key, CorrelationID: "x", Time: now})
	}
	accepted := func() map[string]int {
		sums := make(map[string]int)
		for _, hour := range m.ByWebhook(2) {
			for key, of := range hour.Webhooks {
				sums[key] += of.Accepted
			}
		}
		return sums
	}
	before := accepted()
	over, stop := context.WithCancel(t.Context())
	stop()
	m.Keep(over)
	for when, got := range map[string]map[string]int{"counted": before, "stored": accepted()} {
		if got["webhook.expected"] != 1 || got["webhook.other"] != 0 || got[""] == 0 {
			t.Errorf("%s: expected %d, other %d, without a name %d", when, got["webhook.expected"], got["webhook.other"], got[""])
		}
	}
}

// TestClockThatWasAhead: calls that came while the clock was wrong count, and take no place of later ones.
func TestClockThatWasAhead(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	m := metrics.NewMinutes(engine.Minutes, engine.Hours, engine.Unfinished, log)
	over, stop := context.WithCancel(t.Context())
	stop()
	const kept = 30 * 24 * time.Hour
	for i, ahead := range []time.Duration{2 * time.Hour, kept, 0} {
		m.Call(sluice.Call{EventKey: "webhook.hasty", CorrelationID: "x", Time: time.Now().Add(ahead)})
		want := min(i+1, 2) // the last one takes the place of that before
		for _, when := range []string{"counted", "stored"} {
			if got := m.Webhooks(t.Context(), 24, ""); len(got) != 1 || when == "stored" && got[0].Accepted != want {
				t.Errorf("%s ahead, %s: %+v, want %d calls", ahead, when, got, want)
			}
			m.Keep(over)
		}
	}
}

// An unsure store stores what it is given, and says that it can't tell.
type unsure struct{ sluice.Records[sluice.Minute] }

func (u unsure) Change(
	ctx context.Context, key string, decide func(*sluice.Minute, map[string]*sluice.Minute) (*sluice.Minute, error),
) (*sluice.Minute, error) {
	if _, err := u.Records.Change(ctx, key, decide); err != nil {
		return nil, err
	}
	return nil, sluice.Passing(sluice.CodeEngineUnavailable, "It did not answer.")
}

// TestDoubtfulCountsAreAddedOnce: an engine that stores counts and does not answer has them once,
// however often they are sent.
func TestDoubtfulCountsAreAddedOnce(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: t.TempDir(), Box: natstest.Box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	m := metrics.NewMinutes(unsure{engine.Minutes}, unsure{engine.Hours}, engine.Unfinished, log)
	over, stop := context.WithCancel(t.Context())
	stop()
	for calls := 1; calls <= 3; calls++ {
		m.Call(sluice.Call{StatusCode: 200, CorrelationID: "x", Time: time.Now()})
		m.Keep(over)
		counted := 0
		for _, minute := range m.Last(t.Context(), 5) {
			counted += minute.Accepted
		}
		if counted != calls {
			t.Errorf("%d of %d calls are counted", counted, calls)
		}
	}
}
