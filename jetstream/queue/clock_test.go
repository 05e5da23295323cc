package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// A wrongClock is a clock on the wall that can be set.
type wrongClock struct{ ahead atomic.Int64 }

func (c *wrongClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }
func (c *wrongClock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }

const day = 24 * time.Hour

// waitingBy returns waiting events that go by a clock of their own.
func waitingBy(clock *wrongClock) *Waiting {
	w := NewWaiting(&stream.Host{SoleWriter: true, Log: slog.New(slog.DiscardHandler)}, 0)
	w.now, w.clock.began = clock.now, time.Now()
	return w
}

// after waits until so much time has passed within the bubble of a test.
func after(d time.Duration) { <-time.After(d) }

// TestAClockThatIsSetRight: what was noted or waited for while the clock was a day
// behind is due soon after the clock is right, with its place and without.
func TestAClockThatIsSetRight(t *testing.T) {
	for name, wait := range map[string]func(t *testing.T, w *Waiting, due time.Time) error{
		"without its place": func(t *testing.T, w *Waiting, due time.Time) error {
			w.note("b", keyOf(0), state{Attempts: 1, Due: due, sequence: 1})
			if w.pick("b") != nil {
				t.Error("it is taken before it is due")
			}
			err := w.await(t.Context(), "b")
			if w.pick("b") == nil {
				t.Error("it is not taken when it is due")
			}
			return err
		},
		"with its place": func(t *testing.T, w *Waiting, due time.Time) error {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c := &consumption{queue: &Queue{host: w.host, Waiting: w, work: newInProgress()}, binding: "b", ordered: true, picked: make(chan struct{}, 1)}
			go c.followWaiting(ctx)
			_, err := (&live{consumption: c}).wait(ctx, &delivery{key: keyOf(0)}, attempt{outcome: sluice.Outcome{Next: due}, before: true})
			return err
		},
	} {
		for occasion, begin := range map[string]time.Duration{"behind at the start": -day, "set back meanwhile": 0} {
			t.Run(name+", "+occasion, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var clock wrongClock
					clock.set(begin)
					w, began, ended := waitingBy(&clock), time.Now(), make(chan time.Duration, 1)
					go func() {
						if err := wait(t, w, began.Add(10*time.Second)); err != nil {
							t.Error(err)
						}
						ended <- time.Since(began)
					}()
					after(time.Second)
					clock.set(-day)
					after(time.Minute)
					clock.set(0)
					if took := <-ended; took > time.Minute+time.Second+lookEvery {
						t.Errorf("it waits for %s", took)
					}
				})
			})
		}
	}
}

// TestAClockThatIsSetBack: an event that keeps others waiting waits for as long as it
// was told to, however long the clock says that is.
func TestAClockThatIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wrongClock
		w, began := waitingBy(&clock), time.Now()
		time.AfterFunc(time.Second, func() { clock.set(-day) })
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := &consumption{queue: &Queue{host: w.host, Waiting: w, work: newInProgress()}, binding: "b", picked: make(chan struct{}, 1)}
		go c.followWaiting(ctx)
		_, err := w.hold(ctx, "b", keyOf(0), state{Due: began.Add(time.Minute), Held: true}, func() bool { return false })
		if took := time.Since(began); err != nil || took < time.Minute || took > time.Minute+lookEvery {
			t.Errorf("it waits for %s (%v)", took, err)
		}
		if w.Waits(1) {
			t.Error("it is known when it waits no more")
		}
	})
}

// TestErasedBeforeItIsHeld: an event that was erased just before it begins to wait in its place does not wait there.
func TestErasedBeforeItIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, began := waitingBy(new(wrongClock)), time.Now()
		d := &delivery{withdrawn: new(Settled)}
		_, err := w.hold(t.Context(), "b", keyOf(0), state{Due: began.Add(time.Hour), Held: true}, func() bool { return newInProgress().isWithdrawn(d) })
		if !errors.Is(err, errElsewhere) || time.Since(began) > 0 || w.Waits(1) {
			t.Errorf("it waits for %s (%v)", time.Since(began), err)
		}
	})
}

// TestWhatWaitsWhenAClockIsSetBack: an event without a place waits no longer than it was told
// to, whether its state was noted before the clock was set back, was being stored just then, or
// is read afterwards.
func TestWhatWaitsWhenAClockIsSetBack(t *testing.T) {
	for name, was := range map[string]struct {
		told, stored time.Duration
		group        uint64 // waits with others
	}{
		"noted before":                {},
		"read afterwards":             {told: 5 * time.Hour, stored: 5 * time.Hour},
		"set back before storing":     {told: 5 * time.Hour},
		"noted before, in a group":    {group: 7},
		"read afterwards, in a group": {told: 5 * time.Hour, stored: 5 * time.Hour, group: 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var clock wrongClock
				clock.set(was.stored)
				noted := clock.now()
				clock.set(was.told)
				told, due := clock.now(), clock.now().Add(time.Minute)
				clock.set(0)
				w, began := waitingBy(&clock), time.Now()
				w.note("b", keyOf(0), w.onClock(state{
					Attempts: 1, Due: due, Told: told, Group: was.group, Came: told, Wait: time.Minute, AtMost: time.Hour, sequence: 1,
				}, noted))
				if was.told == 0 {
					clock.set(-5 * time.Hour)
				}
				// One that is noted now goes by the clock as it is now.
				w.note("b", keyOf(1), state{Attempts: 1, Due: clock.now().Add(time.Hour), sequence: 2})
				if err := w.await(t.Context(), "b"); err != nil || time.Since(began) > time.Minute+lookEvery {
					t.Errorf("it waits for %s (%v)", time.Since(began), err)
				}
				if e := w.pick("b"); e == nil || e.key() != keyOf(0) {
					t.Errorf("the event that is taken is %+v", e)
				}
				if e := w.pick("b"); e != nil {
					t.Errorf("an event that was noted afterwards is taken: %+v", e)
				}
			})
		})
	}
}

// A givenBack event remembers when it is to come again.
type givenBack struct {
	jetstream.Msg

	after time.Duration
	then  func() // if set
}

// NakWithDelay implements jetstream.Msg.
func (g *givenBack) NakWithDelay(after time.Duration) error {
	g.after = after
	if g.then != nil {
		g.then()
	}
	return nil
}

// TestWhatIsGivenBackComesAgain: an event with a stored time comes soon, to look at the clock
// again; one that was just tried comes when it is due.
func TestWhatIsGivenBackComesAgain(t *testing.T) {
	for name, test := range map[string]struct {
		left   time.Duration
		before bool
		want   time.Duration
	}{
		"just tried":             {left: time.Hour, want: time.Hour},
		"just tried, and due":    {left: -time.Hour, want: consumeRetry},
		"tried before":           {left: day, before: true, want: lookEvery},
		"tried before, due soon": {left: time.Second, before: true, want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, msg := waitingBy(new(wrongClock)), new(givenBack)
				c := &consumption{queue: &Queue{host: w.host, Waiting: w, work: new(inProgress)}}
				a := attempt{outcome: sluice.Outcome{Status: sluice.StatusProcessing, Next: time.Now().Add(test.left)}, before: test.before}
				c.report(t.Context(), &delivery{from: &live{consumption: c, msg: msg}}, a, errors.New("no storage"))
				if msg.after != test.want {
					t.Errorf("it comes again after %s, want %s", msg.after, test.want)
				}
			})
		})
	}
}
