package jetstream

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// TestAnEventWaitsForAnAnswer: its run left its place, which is no attempt. It goes on when
// somebody answers, at whichever node, with its place and without, also if the answer came first or
// the node is another one by then.
func TestAnEventWaitsForAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		concurrency int
		early       bool // the answer comes before the event waits
		restart     bool
	}{
		"without a place":    {concurrency: 16},
		"with its place":     {concurrency: 1},
		"answered early":     {concurrency: 16, early: true},
		"its place, early":   {concurrency: 1, early: true},
		"across a restart":   {concurrency: 16, restart: true},
		"its place, restart": {concurrency: 1, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
				e := open()
				key := natstest.UniqueKey("answer")
				p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, test.concurrency)
				runs := make(chan sluice.Delivery, 10)
				answer := func(e *Engine) {
					items, err := e.Queue.Waiting.Work.Take(t.Context(), p.Name, "worker", 1, time.Minute)
					if err != nil || len(items) != 1 {
						t.Errorf("%d items are taken (%v)", len(items), err)
						return
					}
					check(t, e.Queue.Waiting.Work.Answer(t.Context(), items[0].Lease, sluice.WorkAnswer{Value: []byte(`"answered"`)}, anyQueue))
				}
				run := func(d sluice.Delivery) (sluice.Outcome, error) {
					item := sluice.WorkItem{Queue: p.Name, Since: time.Now(), Until: time.Now().Add(time.Hour)}
					_, err := d.Kept.Offer(context.Background(), "step", item)
					check(t, err)
					found, err := d.Kept.Answer(context.Background(), "step")
					if err != nil {
						return sluice.Outcome{}, err
					}
					runs <- d
					if found != nil {
						return ok(p.Name, string(found.Value)), nil
					}
					if test.early {
						answer(e)
					}
					o := again(d, time.Hour)
					o.Attempts, o.Answered = d.Attempts, func() bool {
						found, _ := d.Kept.Answer(context.Background(), "step")
						return found != nil
					}
					return o, nil
				}
				stop := consume(t, e, p, run)
				result := send(t, e, key, 0)
				if !test.early {
					natstest.Eventually(t, "it to wait", func() bool {
						got, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
						return err == nil && got.Status == sluice.StatusProcessing && len(runs) == 1
					})
					if n := e.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name}); n != 0 {
						t.Errorf("%d events are said to be tried again", n)
					}
					calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: key, Status: sluice.StatusProcessing, Limit: 10})
					if err != nil || len(calls) != 1 {
						t.Errorf("%d calls are found to be processed (%v)", len(calls), err)
					}
					if test.restart {
						stop()
						e.Close()
						e = open()
						consume(t, e, p, run)
					}
					by := e
					if shared {
						by = open()
					}
					answer(by)
				}
				if got, err := e.Results.Result(t.Context(), result.CorrelationID, patience); err != nil || string(got.Value) != `"answered"` {
					t.Errorf("it comes to %s %s (%v)", got.Status, got.Value, err)
				}
				for range 2 {
					if d := <-runs; d.Attempts != 0 {
						t.Errorf("a run is told of %d attempts", d.Attempts)
					}
				}
				natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, e, p.Binding) })
			})
		})
	}
}

// TestALeaseHoldsAtEveryNode: what one node gave can be answered at another one at once.
func TestALeaseHoldsAtEveryNode(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		if !shared {
			return
		}
		const events = 50
		nodes := []*Engine{open(), open()}
		key := natstest.UniqueKey("lease")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, events)
		consume(t, nodes[0], p, func(d sluice.Delivery) (sluice.Outcome, error) {
			item := sluice.WorkItem{Queue: p.Name, Since: time.Now(), Until: time.Now().Add(time.Hour)}
			_, err := d.Kept.Offer(context.Background(), "step", item)
			return again(d, time.Hour), err
		})
		for range events {
			send(t, nodes[0], key, 0)
		}
		for range events {
			items, err := nodes[0].Queue.Waiting.Work.Take(t.Context(), p.Name, "worker", 1, time.Minute)
			if err != nil || len(items) != 1 {
				t.Fatalf("%d items are taken (%v)", len(items), err)
			}
			check(t, nodes[1].Queue.Waiting.Work.Answer(t.Context(), items[0].Lease, sluice.WorkAnswer{Value: []byte(`1`)}, anyQueue))
		}
	})
}

// TestWorkThatIsDoneIsNotTaken: nodes that want the same item at the same moment do not get it after
// another one has done it, and what waited for it is gone.
func TestWorkThatIsDoneIsNotTaken(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		if !shared {
			return
		}
		const events, takers = 300, 8
		nodes := []*Engine{open(), open(), open()}
		key := natstest.UniqueKey("contended")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, events)
		consume(t, nodes[0], p, func(d sluice.Delivery) (sluice.Outcome, error) {
			item := sluice.WorkItem{Queue: p.Name, Since: time.Now(), Until: time.Now().Add(time.Hour)}
			if _, err := d.Kept.Offer(context.Background(), "step", item); err != nil {
				return sluice.Outcome{}, err
			}
			answer := func() (*sluice.WorkAnswer, error) { return d.Kept.Answer(context.Background(), "step") }
			if found, err := answer(); found != nil || err != nil {
				return ok(p.Name, "1"), err
			}
			o := again(d, time.Hour)
			o.Answered = func() bool { // if that can't be known, another run finds out
				found, err := answer()
				return found != nil || err != nil
			}
			return o, nil
		})
		for range events {
			send(t, nodes[0], key, 0)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var done sync.Map // trace ids
		var left atomic.Int32
		left.Store(events)
		var working sync.WaitGroup
		for i := range len(nodes) * takers {
			work := nodes[i%len(nodes)].Queue.Waiting.Work
			working.Go(func() {
				for {
					var items []sluice.WorkItem
					err := persist(ctx, func() (err error) {
						items, err = work.Take(ctx, p.Name, "worker", 1, time.Minute)
						return err
					})
					if err != nil && ctx.Err() != nil {
						return // all is done, whatever the engine said last
					}
					check(t, err)
					if len(items) == 0 {
						return
					}
					if _, twice := done.LoadOrStore(items[0].Lease[:strings.LastIndex(items[0].Lease, ".")], true); twice {
						t.Errorf("%s was taken when it was done", items[0].Lease)
						continue
					}
					check(t, persist(ctx, func() error {
						return work.Answer(ctx, items[0].Lease, sluice.WorkAnswer{Value: []byte(`1`)}, anyQueue)
					}))
					if left.Add(-1) == 0 {
						stop()
					}
				}
			})
		}
		working.Wait()
		natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, nodes[0], p.Binding) })
	})
}

// persist does something again while the engine does not answer, as workers do.
func persist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || sluice.AsError(err).Kind != sluice.Unavailable || wait.For(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}

// TestAnAnswerAtAServerThatLags: an item that a server of the cluster does not know of is not done for that, and its
// event goes on.
func TestAnAnswerAtAServerThatLags(t *testing.T) {
	t.Parallel()
	servers := natstest.StartServers()
	e := openEngine(t, Options{URL: servers[0].ClientURL(), Replicas: 3})
	key := natstest.UniqueKey("lags")
	p := bind(t, e, "lags", sluice.EventPrefix+key, 16)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		if answer, err := d.Kept.Answer(context.Background(), "step"); answer != nil || err != nil {
			return ok(p.Name, `"answered"`), err
		}
		item := sluice.WorkItem{Queue: p.Name, Since: time.Now(), Until: time.Now().Add(time.Hour)}
		_, err := d.Kept.Offer(context.Background(), "step", item)
		o := again(d, time.Hour)
		o.Attempts, o.Answered = d.Attempts, func() bool { return false }
		return o, err
	})
	result := send(t, e, key, 0)
	natstest.Eventually(t, "it waits", func() bool { return waitsFor(t, e, p.Binding) })
	items, err := e.Queue.Waiting.Work.Take(t.Context(), p.Name, "worker", 1, time.Minute)
	if err != nil || len(items) != 1 {
		t.Fatalf("%d items are taken (%v)", len(items), err)
	}
	asked := lagging(t, servers[0], servers[1].ClientURL())
	check(t, e.Queue.Waiting.Work.Answer(t.Context(), items[0].Lease, sluice.WorkAnswer{Value: []byte(`1`)}, anyQueue))
	if got, err := e.Results.Result(t.Context(), result.CorrelationID, patience); err != nil || string(got.Value) != `"answered"` {
		t.Errorf("it comes to %s %s (%v)", got.Status, got.Value, err)
	}
	if asked.Load() == 0 {
		t.Error("the server that lags was not asked for the item")
	}
}

// lagging lets what a server says of items of work be that of one that has not heard of them, and counts that.
// All other reads go to another server.
func lagging(t *testing.T, s *server.Server, other string) *atomic.Int64 {
	t.Helper()
	conn, err := nats.Connect(other)
	check(t, err)
	t.Cleanup(conn.Close)
	const read = "$JS.API.STREAM.MSG.GET." + stream.Waiting
	asked, inbox := new(atomic.Int64), conn.NewInbox()
	_, err = conn.Subscribe(inbox, func(msg *nats.Msg) {
		reply := []byte(`{"type":"io.nats.jetstream.api.v1.stream_msg_get_response","error":{"code":404,"err_code":10037,"description":"no message found"}}`)
		if bytes.Contains(msg.Data, []byte(".work.")) {
			asked.Add(1)
		} else if found, err := conn.Request(read, msg.Data, patience); err == nil {
			reply = found.Data
		}
		_ = msg.Respond(reply)
	})
	check(t, err)
	check(t, conn.Flush())
	check(t, s.GlobalAccount().AddMapping(read, inbox))
	return asked
}

// anyQueue is for whoever may work in all queues.
func anyQueue(string) error { return nil }
