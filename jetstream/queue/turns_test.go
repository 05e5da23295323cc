package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice/jetstream/stream"
)

// TestWhatComesAgainGoesFirst: after a restart no event that waits for others has its turn before the
// consumer has handed out all that came before, or that it joined behind. Meanwhile those find room.
func TestWhatComesAgainGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWaiting(&stream.Host{SoleWriter: true}, 2*entrySize)
		note := func(i int, behind uint64) {
			w.note("b", keyOf(i), state{Order: 7, Behind: behind, Due: time.Now(), sequence: uint64(i + 1)})
		}
		note(1, 5) // was sent for later
		note(2, 0)
		if !w.full("b") {
			t.Error("there is room for any number")
		}
		w.shutUntil("b", unfollowed)
		after(time.Minute)
		if e := w.pick("b"); e != nil {
			t.Errorf("%s runs before the consumer is followed", e.key())
		}
		w.shutUntil("b", w.latest("b"))
		if w.full("b") {
			t.Error("there is no room for what comes again")
		}
		for event := range uint64(5) {
			w.handedOut("b", event, 1)
			after(time.Minute)
			if e := w.pick("b"); e != nil {
				t.Errorf("%s runs when %d were handed out", e.key(), event)
			}
		}
		w.handedOut("b", 5, 1)
		if e := w.pick("b"); e == nil || e.key() != keyOf(2) || !w.full("b") {
			t.Errorf("%+v runs", e)
		}
	})
}

// TestAnAnswerBeforeItsTurn: an event whose answer comes before it has its turn, as after a restart, is
// in no run that would find the answer.
func TestAnAnswerBeforeItsTurn(t *testing.T) {
	w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
	w.note("b", keyOf(0), state{Order: 7, Answer: true, Due: time.Now().Add(time.Hour), sequence: 1})
	w.shutUntil("b", w.latest("b"))
	w.note("b", keyOf(0), state{Order: 7, Answer: true, Due: time.Now().Add(time.Hour), sequence: 2})
	if w.runs("b", keyOf(0), 2) {
		t.Error("it is said to run")
	}
}
