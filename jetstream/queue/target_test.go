package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// TestRecoveryIsByTarget: a success at a target lets the oldest event be tried that waits for
// it, one alone; if that goes well the others follow, and if not, nothing is due before. What
// waits for another target, or for none, is never touched.
func TestRecoveryIsByTarget(t *testing.T) {
	const here, there, waiting = sluice.Target(1), sluice.Target(2), 250
	reached, away := sluice.Outcome{Reached: []sluice.Target{here}}, sluice.Outcome{Target: here, Pause: 30 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		w, began := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now()
		c := &consumption{queue: &Queue{Waiting: w}, binding: "b", slots: newSlots(16, 0)}
		for i := range waiting {
			target := here
			if i%5 == 0 { // the first as well
				target = sluice.Target(i%2) * there
			}
			w.note("b", keyOf(i), state{Attempts: 1, Due: began.Add(time.Hour), Target: target, sequence: uint64(i + 1)})
		}
		taken := func() (found []*delivery) {
			for e := w.pick("b"); e != nil; e = w.pick("b") {
				if e.Target != here || e.tries() != here {
					t.Errorf("%s is tried, which waits for %d", e.key(), e.Target)
				}
				found = append(found, &delivery{key: e.key(), tries: e.tries()})
			}
			return found
		}
		wantFirst := func(when string) *delivery {
			t.Helper()
			w.heard(c, new(delivery), reached)
			w.heard(c, new(delivery), reached) // while it is tried, nothing else is
			found := taken()
			if len(found) != 1 || found[0].key != keyOf(1) {
				t.Fatalf("%s %d events are tried", when, len(found))
			}
			return found[0]
		}
		wantNone := func(when string) {
			t.Helper()
			w.heard(c, new(delivery), reached)
			if found := taken(); len(found) != 0 {
				t.Errorf("%s %d events are tried", when, len(found))
			}
		}
		w.heard(c, new(delivery), sluice.Outcome{Reached: []sluice.Target{3}})
		if found := taken(); len(found) != 0 {
			t.Errorf("%d events follow a target that none waits for", len(found))
		}
		first := wantFirst("at first")
		w.heard(c, first, away)
		w.note("b", first.key, state{Attempts: 1, Due: began.Add(time.Hour), Target: here, sequence: 1000})
		wantNone("right after a try that failed")
		after(29 * time.Second)
		wantNone("before the backoff is over")
		after(time.Second)
		first = wantFirst("after the backoff")
		w.heard(c, first, sluice.Outcome{}) // it ran elsewhere, or not at all
		w.postpone("b", first.key, time.Hour)
		first = wantFirst("after a try that came to nothing")
		w.heard(c, first, reached)
		w.forget("b", first.key)
		followed := taken()
		if len(followed) != followRate {
			t.Errorf("%d events follow at once", len(followed))
		}
		for i, d := range followed[1:] {
			if sequenceOf(d.key) < sequenceOf(followed[i].key) {
				t.Errorf("%s follows %s", d.key, followed[i].key)
			}
		}
		after(500 * time.Millisecond) // another 50 are due
		w.heard(c, followed[0], away)
		after(time.Minute)
		if found := taken(); len(found) != 0 {
			t.Errorf("%d events follow though a try has failed", len(found))
		}
		for e := range w.line("b").all() {
			if e.queued && (e.Attempts != 1 || e.at != e.Due && e.tried == 0 && e.at < e.Due) {
				t.Errorf("%s is due at %s in place of %s", e.key(), e.at.time(), e.Due.time())
			}
		}
	})
}

// TestARateBoundsWhatFollows: the pipeline's rate counts if it is below 100 a second.
func TestARateBoundsWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
		c := &consumption{queue: &Queue{Waiting: w}, binding: "b", slots: newSlots(16, 5)}
		for i := range 50 {
			w.note("b", keyOf(i), state{Attempts: 1, Due: time.Now().Add(time.Hour), Target: 1, sequence: uint64(i + 1)})
		}
		for range 2 { // the first is tried, then the others follow
			w.heard(c, &delivery{key: keyOf(0)}, sluice.Outcome{Reached: []sluice.Target{1}})
		}
		due := func() (count int) {
			for w.pick("b") != nil {
				count++
			}
			return count
		}
		at := due()
		after(2*time.Second + followEvery/2) // not at the moment at which one becomes due
		if later := due(); at != 6 || later != 10 {
			t.Errorf("%d are due at once, and %d in the two seconds behind", at, later)
		}
	})
}

// TestATryIsNotForgotten: while one event alone waits for a target, its failed try counts as that of
// one among many.
func TestATryIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, due := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now().Add(time.Hour)
		c := &consumption{queue: &Queue{Waiting: w}, binding: "b", slots: newSlots(16, 0)}
		for sequence := range uint64(3) {
			w.note("b", keyOf(0), state{Attempts: 1, Due: due, Target: 1, sequence: sequence + 1})
			w.heard(c, new(delivery), sluice.Outcome{Reached: []sluice.Target{1}})
			if e := w.pick("b"); (e != nil) != (sequence == 0) {
				t.Errorf("after %d tries that failed it is %+v", sequence, e)
			}
			w.heard(c, &delivery{key: keyOf(0), tries: 1}, sluice.Outcome{Target: 1, Pause: time.Minute})
		}
	})
}

// TestATryThatNeverComes: an event that is gone before it is tried, is made due, or is taken by another
// node, leaves the try to the next one.
func TestATryThatNeverComes(t *testing.T) {
	for name, away := range map[string]func(w *Waiting, due time.Time){
		"erased": func(w *Waiting, _ time.Time) { w.forget("b", keyOf(0)) },
		"taken": func(w *Waiting, due time.Time) {
			w.note("b", keyOf(0), state{Attempts: 1, Due: due, Target: 1, Node: "another", sequence: 9})
		},
		"made due": func(w *Waiting, _ time.Time) {
			w.hurry(hurryOrder{Bindings: []string{"b"}, Key: keyOf(0)}, true)
			w.forget("b", w.pick("b").key())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, due := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now().Add(time.Hour)
				c := &consumption{queue: &Queue{Waiting: w}, binding: "b", slots: newSlots(16, 0)}
				for i := range 3 {
					w.note("b", keyOf(i), state{Attempts: 1, Due: due, Target: 1, sequence: uint64(i + 1)})
				}
				w.heard(c, new(delivery), sluice.Outcome{Reached: []sluice.Target{1}})
				away(w, due)
				w.heard(c, new(delivery), sluice.Outcome{Reached: []sluice.Target{1}})
				if e := w.pick("b"); e == nil || e.key() != keyOf(1) {
					t.Errorf("tried is %+v", e)
				}
			})
		})
	}
}
