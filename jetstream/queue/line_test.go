package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sluice/jetstream/stream"
)

func keyOf(i int) string { return fmt.Sprintf("n-%d", i+1) }

// TestEventsAreTakenWhenTheyAreDue: each at its time, the next one first, however
// they came in; meanwhile they take no slot.
func TestEventsAreTakenWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, slots, began := NewWaiting(&stream.Host{SoleWriter: true}, 0), newSlots(16, 0), time.Now()
		for i := range 16 {
			due := began.Add(time.Minute + time.Duration(16-i)*time.Second)
			w.note("b", keyOf(i), state{Attempts: 1, Due: due, sequence: uint64(i + 1)})
		}
		if w.pick("b") != nil {
			t.Error("one is taken before it is due")
		}
		for range 16 { // all slots are free for live events
			if !slots.tryTake(false) {
				t.Error("an event that waits holds a slot")
			}
		}
		early := make(chan time.Duration)
		go func() {
			_ = w.await(t.Context(), "b")
			early <- time.Since(began)
		}()
		synctest.Wait()
		w.note("b", "n-2s", state{Due: began.Add(2 * time.Second), sequence: 99})
		if at := <-early; at != 2*time.Second {
			t.Errorf("one that came in meanwhile is due after %s", at)
		}
		if e := w.pick("b"); e == nil || e.key() != "n-2s" {
			t.Errorf("taken is %+v", e)
		}
		w.forget("b", "n-2s")
		for i := range 16 {
			if err := w.await(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			e := w.pick("b")
			if at := time.Since(began); e == nil || e.key() != keyOf(15-i) || at != time.Minute+time.Duration(i+1)*time.Second {
				t.Errorf("after %s %+v is taken", at, e)
			}
		}
		if count, _, _ := w.counts("b"); count != 16 || !w.Waits(1) || w.Waits(99) {
			t.Errorf("%d are known", count)
		}
	})
}

// TestStatesOfOneEvent: the newest counts; one that is held, or that this node has
// claimed, changes nothing.
func TestStatesOfOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, now := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now()
		if w.may("b") {
			t.Error("an event may wait where none ever did")
		}
		w.note("b", keyOf(0), state{Attempts: 2, Due: now, sequence: 2})
		w.note("b", keyOf(0), state{Attempts: 1, Due: now, sequence: 1})
		e := w.pick("b")
		if e == nil || e.Attempts != 2 {
			t.Fatalf("taken is %+v", e)
		}
		w.note("b", keyOf(0), state{Attempts: 2, Due: now, Node: w.node, sequence: 3})
		w.note("b", keyOf(1), state{Attempts: 1, Due: now, Held: true, sequence: 4})
		if e := w.pick("b"); e != nil {
			t.Errorf("taken is %+v", e)
		}
		w.postpone("b", keyOf(0), time.Second)
		w.postpone("b", keyOf(0), time.Hour) // it waits already
		if err := w.await(t.Context(), "b"); err != nil || time.Since(now) != time.Second {
			t.Errorf("it is due again after %s (%v)", time.Since(now), err)
		}
		w.note("b", keyOf(0), state{Attempts: 2, Due: now.Add(time.Minute), Node: "another", sequence: 5})
		if e := w.pick("b"); e != nil {
			t.Errorf("taken is %+v, which another node runs", e)
		}
		w.forget("b", keyOf(0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := w.await(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing waits, and something is due: %v", err)
		}
		if count, _, _ := w.counts("b"); count != 0 || !w.may("b") {
			t.Errorf("%d are left", count)
		}
	})
}

// TestAnEventWithoutASlotGoesBackInLine: an event that was taken, and has no slot before
// the pipeline stops, is there when the pipeline goes on.
func TestAnEventWithoutASlotGoesBackInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
		w.note("b", keyOf(0), state{Attempts: 1, Due: time.Now(), sequence: 1})
		ctx, stop := context.WithCancel(t.Context())
		c := &consumption{
			queue:   &Queue{work: newInProgress(), host: w.host, Waiting: w, memory: newMemory(0), crew: &crew{start: func(f func()) { go f() }, done: ctx.Done(), work: make(chan func())}},
			binding: "b", slots: newSlots(2, 0), picked: make(chan struct{}, 16),
		}
		for c.slots.tryTake(false) {
		}
		go c.followWaiting(ctx)
		synctest.Wait()
		if w.pick("b") != nil || len(c.slots.waited) != 1 {
			t.Errorf("%d events wait for a slot", len(c.slots.waited))
		}
		stop()
		c.deliveries.Wait()
		if e := w.pick("b"); e == nil || e.Attempts != 1 || len(c.picked) != 0 {
			t.Errorf("back in line is %+v", e)
		}
	})
}

// TestEventsOfOneSequence: after a power cut another event may have the sequence of a lost one.
func TestEventsOfOneSequence(t *testing.T) {
	w, keys := NewWaiting(&stream.Host{SoleWriter: true}, 0), []string{"a-1", "b-1", "c-1"}
	for _, gone := range keys {
		for i, key := range keys {
			w.note("b", key, state{Attempts: 1, Due: time.Now().Add(time.Hour), sequence: uint64(i + 1)})
		}
		w.forget("b", gone)
		for _, key := range keys {
			if e := w.line("b").find(key); (e != nil) == (key == gone) || e != nil && e.key() != key {
				t.Errorf("without %s, %s is %+v", gone, key, e)
			}
		}
		if count, _, _ := w.counts("b"); count != 2 || !w.Waits(1) || w.line("b").due.Len() != 2 {
			t.Errorf("%d are left", count)
		}
	}
	for _, key := range keys {
		w.forget("b", key)
	}
	if w.Waits(1) || w.count != 0 {
		t.Error("one is left")
	}
}

// TestRoomForOthers: a pipeline whose events wait leaves as much room for those of others.
func TestRoomForOthers(t *testing.T) {
	w := NewWaiting(&stream.Host{SoleWriter: true}, 8*entrySize)
	for i, full := range []bool{false, false, false, false, true} {
		if w.full("b") != full || w.full("other") {
			t.Errorf("with %d events it is %t that there is room for no more", i, !full)
		}
		w.note("b", keyOf(i), state{Attempts: 1, Due: time.Now(), sequence: uint64(i + 1)})
	}
}
