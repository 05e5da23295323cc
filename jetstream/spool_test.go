package jetstream

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// spooling is a node with a spool, whose connection to the engine can be cut, and another node
// that is always connected.
type spooling struct {
	*testing.T

	opts     Options
	way      *natstest.Proxy
	one, two *Engine
}

func startSpooling(t *testing.T, settings ...func(*Options)) *spooling {
	t.Helper()
	server := natstest.Start(natstest.Options())
	s := &spooling{T: t, way: natstest.StartProxy(t, server.Addr().String())}
	s.opts = Options{URL: s.way.URL, Replicas: 1, SpoolDir: t.TempDir(), SpoolMaxBytes: 64 << 20}
	for _, set := range settings {
		set(&s.opts)
	}
	s.one = openEngine(t, s.opts)
	s.two = openEngine(t, Options{URL: server.ClientURL(), Replicas: 1})
	return s
}

// cut lets nothing through to the engine any more, until the node knows.
func (s *spooling) cut() {
	s.Helper()
	s.way.Hang()
	natstest.Eventually(s.T, "the node knows that the engine is away", func() bool { return s.one.host.Ready() != nil })
	if err := s.one.Ready(); err != nil {
		s.Fatalf("the node takes no calls: %v", err)
	}
}

// mend lets everything through again, until all is handed over.
func (s *spooling) mend() {
	s.Helper()
	s.way.GoOn()
	natstest.Eventually(s.T, "all is handed over", func() bool { return s.one.Spooled() == 0 && s.one.host.Ready() == nil })
}

// call makes a call that must be taken.
func (s *spooling) call(e *Engine, ev *sluice.Event) sluice.Result {
	s.Helper()
	result, err := e.Events.Accept(s.Context(), ev, 0)
	if err != nil {
		s.Fatal(err)
	}
	return result
}

// result polls for a result. An engine that is slow to answer says to try again.
func (s *spooling) result(e *Engine, id string) (result sluice.Result) {
	s.Helper()
	natstest.Eventually(s.T, "a poll is answered", func() bool {
		var err error
		if result, err = e.Results.Result(s.Context(), id, 0); err != nil && sluice.AsError(err).Kind != sluice.Unavailable {
			s.Fatal(err)
		}
		return err == nil
	})
	return result
}

// traces returns the trace ids of all events with a key, in order.
func (s *spooling) traces(key string) (ids []string) {
	s.Helper()
	info, err := s.two.Stored.stream.Info(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for sequence := info.State.FirstSeq; sequence <= info.State.LastSeq; sequence++ {
		var msg *jetstream.RawStreamMsg
		natstest.Eventually(s.T, "the engine has an event or not", func() (known bool) {
			var err error
			msg, err = s.two.Stored.stream.GetMsg(s.Context(), sequence)
			return err == nil || errors.Is(err, jetstream.ErrMsgNotFound)
		})
		if msg == nil || msg.Subject != sluice.EventPrefix+key {
			continue
		}
		e, err := correlation.ReadEnvelope(msg)
		if err != nil {
			s.Fatal(err)
		}
		ids = append(ids, e.TraceID)
	}
	return ids
}

func call(key string) *sluice.Event {
	e := delivered(key, "", "", 0)
	e.Fingerprint = nil
	return e
}

// TestCallsAreTakenThroughAnOutage: during more than one outage, calls are answered, polled,
// handed over in order, found and run as if the engine had been there.
func TestCallsAreTakenThroughAnOutage(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key, calls = "webhook.outage", 300 // more than one block of them
	p := bind(t, s.two, "p", sluice.EventPrefix+"webhook.run", 4)
	var mu sync.Mutex
	seen := make(map[string]string) // ids that the pipeline was given, by trace id
	consume(t, s.two, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[d.TraceID], _ = d.Message["correlationId"].(string)
		return ok("p", `"done"`), nil
	})
	natstest.Eventually(t, "the node knows the pipeline", func() bool { return len(s.one.Stored.Queue.Listeners.Of(sluice.EventPrefix+"webhook.run", "")) == 1 })
	for round := range 2 {
		s.cut()
		var wanted []string
		results := make(map[string]sluice.Result)
		for range calls {
			r := s.call(s.one, call(key))
			results[r.TraceID] = r
			wanted = append(wanted, r.TraceID)
		}
		run := s.call(s.one, call("webhook.run"))
		if polled := s.result(s.one, run.CorrelationID); run.Status != sluice.StatusProcessing || polled.Status != sluice.StatusProcessing || polled.TraceID != run.TraceID {
			t.Fatalf("the call is answered %+v, the poll %+v", run, polled)
		}
		if elsewhere := s.result(s.two, run.CorrelationID); elsewhere.Status != sluice.StatusProcessing {
			t.Errorf("on the other node the poll is answered %+v", elsewhere)
		}
		if stats, _ := s.one.Stats(t.Context()); stats.Ready || stats.Spool.Waiting != calls+1 || stats.Spool.Oldest == nil {
			t.Errorf("the stats are %+v with %+v", stats, stats.Spool)
		}
		s.mend()
		if got := s.traces(key); !slices.Equal(got[round*calls:], wanted) {
			t.Errorf("%d events, want %d in order", len(got), len(wanted))
		}
		for trace, r := range results {
			for _, node := range []*Engine{s.one, s.two} {
				if got := s.result(node, r.CorrelationID); got.Status != sluice.StatusOK || got.TraceID != trace {
					t.Fatalf("the result of %s is %+v", trace, got)
				}
			}
		}
		natstest.Eventually(t, "the call is run", func() bool { return s.result(s.one, run.CorrelationID).Status == sluice.StatusOK })
		mu.Lock()
		if seen[run.TraceID] != run.CorrelationID {
			t.Errorf("the pipeline was given the id %s, the caller %s", seen[run.TraceID], run.CorrelationID)
		}
		mu.Unlock()
		found, _, err := s.one.Journal.Calls(t.Context(), sluice.TraceQuery{TraceID: run.TraceID, Limit: 10})
		if err != nil || len(found) != 1 || found[0].StatusCode != 200 || len(found[0].Runs) > 1 {
			t.Errorf("the journal has %+v, %v", found, err)
		}
	}
}

// TestACallInDoubtBecomesOneEvent, whether or not the engine has read the call that it did not
// acknowledge.
func TestACallInDoubtBecomesOneEvent(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key = "webhook.doubt"
	s.way.Hang()
	var all sync.WaitGroup
	results := make([]sluice.Result, 40)
	for i := range results {
		all.Go(func() {
			ev := call(key)
			if i%2 == 1 {
				ev = delivered(key, fmt.Sprint("id-", i), "body", time.Hour)
			}
			results[i] = s.call(s.one, ev)
		})
	}
	all.Wait()
	s.mend()
	traces := s.traces(key)
	for _, r := range results {
		if got := s.result(s.two, r.CorrelationID); got.Status != sluice.StatusOK || got.TraceID != r.TraceID {
			t.Errorf("the result of %+v is %+v", r, got)
		}
		if slices.Index(traces, r.TraceID) < 0 {
			t.Errorf("%s is lost", r.TraceID)
		}
	}
	if len(traces) != len(results) {
		t.Errorf("%d calls made %d events", len(results), len(traces))
	}
}

// TestADeliveryInTheSpoolIsOneEvent, if it is repeated in the spool and at a node that reaches
// the engine.
func TestADeliveryInTheSpoolIsOneEvent(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key = "webhook.twice"
	s.cut()
	same := []sluice.Result{
		s.call(s.one, delivered(key, "both", "body", time.Hour)),
		s.call(s.one, delivered(key, "both", "body", time.Hour)),
		s.call(s.two, delivered(key, "both", "body", time.Hour)),
	}
	here := []sluice.Result{
		s.call(s.one, delivered(key, "here", "body", time.Hour)),
		s.call(s.one, delivered(key, "here", "body", time.Hour)),
	}
	other := s.call(s.one, delivered(key, "both", "another body", time.Hour))
	s.mend()
	if got := len(s.traces(key)); got != 3 {
		t.Errorf("%d events, want 3", got)
	}
	for name, results := range map[string][]sluice.Result{same[2].TraceID: same, here[0].TraceID: here, other.TraceID: {other}} {
		for _, r := range results {
			if got := s.result(s.two, r.CorrelationID); got.TraceID != name {
				t.Errorf("%+v leads to %+v, want %s", r, got, name)
			}
		}
	}
	if again := s.call(s.two, delivered(key, "here", "body", time.Hour)); !again.Duplicate || again.TraceID != here[0].TraceID {
		t.Errorf("after the hand-over the delivery is answered %+v", again)
	}
}

// TestACallFromTheSpoolKeepsItsDeliveryID in the journal: by that id webhook.missed knows that the
// call was accepted, and does not ask the sender for it again.
func TestACallFromTheSpoolKeepsItsDeliveryID(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key = "webhook.known"
	s.cut()
	s.call(s.one, delivered(key, "the sender's id", "body", time.Hour))
	s.mend()
	for _, node := range []*Engine{s.one, s.two} {
		natstest.Eventually(t, "the call is in the journal", func() bool {
			calls, _, err := node.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: key, Limit: 10})
			if len(calls) == 1 && (calls[0].DeliveryID != "the sender's id" || calls[0].CorrelationID == "") {
				t.Fatalf("it is found as %+v", calls[0])
			}
			return err == nil && len(calls) == 1
		})
	}
}

// TestASpoolIsHandedOverOnce: by the next start of its node, even if an earlier hand-over was
// killed before it could note its progress.
func TestASpoolIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	const key = "webhook.again"
	s.cut()
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = s.call(s.one, call(key)).CorrelationID
	}
	s.one.Close()
	kept := t.TempDir()
	check(t, os.CopyFS(kept, os.DirFS(s.opts.SpoolDir)))
	for _, folder := range []string{s.opts.SpoolDir, kept} {
		s.opts.SpoolDir = folder
		s.way.GoOn()
		s.one = openEngine(t, s.opts)
		s.mend()
		if got := len(s.traces(key)); got != len(ids) {
			t.Errorf("%d events, want %d", got, len(ids))
		}
		for _, id := range ids {
			if got := s.result(s.one, id); got.Status != sluice.StatusOK {
				t.Fatalf("the result is %+v", got)
			}
		}
		s.one.Close()
	}
}

// TestAFullSpoolRefuses calls as a node without a spool does, and says so.
func TestAFullSpoolRefuses(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	s.one.Close()
	s.opts.SpoolMaxBytes = stream.MaxMessage + 64<<10
	s.one = openEngine(t, s.opts)
	s.cut()
	taken := 0
	natstest.Eventually(t, "calls are refused", func() bool {
		_, err := s.one.Events.Accept(t.Context(), call("webhook.full"), 0)
		if err == nil {
			taken++
			return false
		}
		wantKind(t, err, sluice.Unavailable)
		return true
	})
	if err := s.one.Ready(); err == nil || taken < 50 {
		t.Errorf("after %d calls the node is ready", taken)
	}
	s.mend()
	if got := len(s.traces("webhook.full")); got != taken {
		t.Errorf("%d events, want %d", got, taken)
	}
	check(t, s.one.Ready())
}

// TestOnlyCallsGoToTheSpool: replays and messages have the trace id of something else. An
// engine that is full is not away.
func TestOnlyCallsGoToTheSpool(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	natstest.Eventually(t, "a full engine refuses a call", func() bool {
		s.one.Stored.space.left.Store(0) // until it is measured again
		_, err := s.one.Events.Accept(t.Context(), call("webhook.full"), 0)
		return err != nil && sluice.AsError(err).Code == string(sluice.CodeStorageFull)
	})
	s.cut()
	before := s.one.Spooled() // calls, if the engine was slow
	replay, message := call("webhook.replay"), call("")
	replay.ReplayOf = replay.TraceID
	message.Key, message.Method = "some.message", ""
	for _, e := range []*sluice.Event{replay, message} {
		_, err := s.one.Events.Accept(t.Context(), e, 0)
		wantKind(t, err, sluice.Unavailable)
	}
	if n := s.one.Spooled(); n > before {
		t.Errorf("%d wait in the spool, and %d did before", n, before)
	}
}

// TestANodeThatNeverReachedTheEngineRefuses: it knows no webhooks.
func TestANodeThatNeverReachedTheEngineRefuses(t *testing.T) {
	t.Parallel()
	e := openUnready(t, Options{URL: "nats://127.0.0.1:1", Replicas: 1, SpoolDir: t.TempDir(), SpoolMaxBytes: 64 << 20})
	_, err := e.Events.Accept(t.Context(), call("webhook.early"), 0)
	wantKind(t, err, sluice.Unavailable)
	wantKind(t, e.Ready(), sluice.Unavailable)
}

// TestOnlyOurMarkersLeadToEvents: what other programs store as a marker, and ids
// that were never given out.
func TestOnlyOurMarkersLeadToEvents(t *testing.T) {
	t.Parallel()
	s := startSpooling(t)
	id := accept(t, s.two, "abcdef:secret")
	place, _ := s.two.Stored.ids.Parse(id)
	made := s.two.Stored.ids.SpooledID(7, 300, "abcdef:mine")
	forged := fmt.Sprintf(`{"first":300,"events":[0],"others":{"300":{"sequence":%d,"traceId":"abcdef:other"}}}`, place.Sequence)
	if _, err := s.two.host.JS.Publish(t.Context(), "svc.spooled.7.1.forged", []byte(forged), jetstream.WithExpectStream(stream.Events)); err != nil {
		t.Fatal(err)
	}
	_, err := s.two.Results.Result(t.Context(), made, 0)
	wantKind(t, err, sluice.Gone)
}
