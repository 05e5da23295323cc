package jetstream

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// TestWhatWaitsForNobodyIsRemoved: a node may die before it removes events that wait for a
// pipeline that no longer listens. Then others remove them, but not while a pipeline may
// need them.
func TestWhatWaitsForNobodyIsRemoved(t *testing.T) {
	for name, atStart := range map[string]bool{"by a node that runs": false, "at a start": true} {
		t.Run(name, func(t *testing.T) {
			onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
				e := open()
				key := natstest.UniqueKey("swept")
				p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
				stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) { return again(d, time.Hour), nil })
				send(t, e, key, 0)
				waits := func() bool { return waitsFor(t, e, p.Binding) }
				natstest.Eventually(t, "the event to wait", waits)
				stop()
				sweep := func(who string) {
					t.Helper()
					check(t, e.Queue.Sweep(t.Context()))
					if !waits() {
						t.Fatalf("what waits for %s is removed", who)
					}
				}
				sweep("a pipeline")
				storePipeline(t, e, p.Name, nil)
				sweep("a consumer whose pipeline may be about to be stored")
				storePipeline(t, e, p.Name, p)
				check(t, e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID))
				sweep("a pipeline that has lost its consumer")
				storePipeline(t, e, p.Name, nil) // and here the node dies
				if atStart {
					e.Close()
					e = open()
				} else {
					check(t, e.Queue.Sweep(t.Context()))
				}
				if waits() {
					t.Error("it still waits")
				}
			})
		})
	}
}

// waitsFor reports whether something is stored that waits for a binding.
func waitsFor(t *testing.T, e *Engine, b *sluice.Binding) bool {
	t.Helper()
	waiting, err := e.host.JS.Stream(t.Context(), stream.Waiting)
	check(t, err)
	info, err := waiting.Info(t.Context(), jetstream.WithSubjectFilter(stream.WaitingPrefix+b.ID+".>"))
	check(t, err)
	return len(info.State.Subjects) > 0
}
