package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// TestQueuesOfWorkThatNobodyNeeds: whoever asks for a queue by any name leaves nothing behind; a
// queue is there while it has items or takers.
func TestQueuesOfWorkThatNobodyNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := NewWaiting(&stream.Host{SoleWriter: true}, 0).Work
		kept := func(want int, when string) {
			t.Helper()
			if len(work.queues) != want {
				t.Errorf("%s there are %d queues, not %d", when, len(work.queues), want)
			}
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 100 {
			name := fmt.Sprint("guessed-", i)
			if items := work.Items(name, 10); items == nil || len(items) != 0 {
				t.Errorf("%s has %v", name, items)
			}
			if items, err := work.Take(over, name, "t", 1, time.Minute); len(items) != 0 || err != nil {
				t.Errorf("%s has %v (%v)", name, items, err)
			}
		}
		kept(0, "after guesses")
		waiting, stop := context.WithCancel(t.Context())
		for range 2 {
			go func() { _, _ = work.Take(waiting, "used", "t", 1, time.Minute) }()
		}
		synctest.Wait()
		kept(1, "while somebody waits")
		stop()
		synctest.Wait()
		kept(0, "when nobody waits any more")
		item := sluice.WorkItem{Queue: "used", Since: time.Now(), Until: time.Now().Add(time.Hour)}
		work.offered("b.n-1.s", item)
		work.moved("b.n-1.s", 1, progress{Free: time.Now().Add(time.Minute)})
		kept(1, "while an item is away")
		work.moved("b.n-1.s", 2, progress{Answer: []byte("sealed")})
		kept(0, "when its only item is answered")
		work.offered("b.n-2.s", item)
		time.Sleep(2 * time.Hour)
		if items := work.Items("used", 10); len(items) != 0 {
			t.Errorf("items that are over are listed: %v", items)
		}
		kept(0, "when its only item is over")
	})
}

// TestWorkAndAClockThatIsSetBack: work that was abandoned is offered again when its lease is over, however
// long the clock says that is, and a lease that began afterwards lasts.
func TestWorkAndAClockThatIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wall wrongClock
		w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
		w.now = wall.now
		w.Work = newWork(w)
		item := func() sluice.WorkItem {
			return sluice.WorkItem{Queue: "q", Since: wall.now(), Until: wall.now().Add(10 * time.Hour)}
		}
		free := func(want int, when string) {
			t.Helper()
			if queues := w.Work.Queues(); len(queues) != 1 || queues[0].Waiting != want {
				t.Errorf("%s %+v is there, want %d items that wait", when, queues, want)
			}
		}
		w.Work.offered("b.n-1.s", item())
		w.Work.moved("b.n-1.s", 1, progress{Lease: "l", Free: wall.now().Add(time.Minute)})
		free(0, "while it has a taker")
		wall.set(-time.Hour)
		w.Work.offered("b.n-2.s", item())
		w.Work.moved("b.n-2.s", 2, progress{Lease: "l", Free: wall.now().Add(3 * time.Minute)})
		after(2 * time.Minute)
		free(1, "when the first lease is over")
		after(2 * time.Minute)
		free(2, "when both are over")
	})
}

// TestWorkIsTakenWhenItIsKnown: after a start nobody gets work whose progress is not read yet: somebody
// may have it.
func TestWorkIsTakenWhenItIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
		w.behind = 1
		w.Work.offered("b.n-1.s", sluice.WorkItem{Queue: "q", Since: time.Now(), Until: time.Now().Add(time.Hour)})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if items, err := w.Work.Take(ctx, "q", "t", 1, time.Minute); len(items) != 0 || err != nil {
			t.Errorf("%v is taken (%v)", items, err)
		}
		if _, err := w.Work.Extend(ctx, "b.n-1.s.l", time.Minute, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a lease is said to be over before it is known: %v", err)
		}
	})
}

// TestStrangersAreAskedAtAStart: whose queue it is counts for answers, too, that come before what is stored is known.
func TestStrangersAreAskedAtAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWaiting(&stream.Host{SoleWriter: true}, 0)
		w.behind = 1
		go func() {
			time.Sleep(time.Second)
			w.Work.offered("b.n-1.s", sluice.WorkItem{Queue: "q", Since: time.Now(), Until: time.Now().Add(time.Hour)})
			w.Work.moved("b.n-1.s", 2, progress{Lease: "l", Free: time.Now().Add(time.Minute)})
			w.mu.Lock()
			defer w.mu.Unlock()
			w.behind = 0
		}()
		stranger := func(queue string) error { return sluice.NotCovered("work.done", queue) }
		if err := w.Work.Answer(t.Context(), "b.n-1.s.l", sluice.WorkAnswer{}, stranger); !sluice.CodeForbidden.Is(err) {
			t.Errorf("a stranger's answer is answered %v", err)
		}
		if _, err := w.Work.Extend(t.Context(), "b.n-1.s.l", time.Minute, stranger); !sluice.CodeForbidden.Is(err) {
			t.Errorf("a stranger's extension is answered %v", err)
		}
	})
}

// TestALeaseIsOverByAClockThatIsSetRight: what was taken while the clock was ahead is offered again when the
// lease has lasted, and not when the clock is where it was.
func TestALeaseIsOverByAClockThatIsSetRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wrongClock
		x := newJobs(clock.now)
		defer x.taking("q")()
		free := func() int {
			picked, _, _ := x.pick("q", 1)
			for _, j := range picked {
				x.enter(j)
			}
			return len(picked)
		}
		clock.set(day)
		x.offered("b.n-1.s", sluice.WorkItem{Queue: "q", Since: clock.now(), Until: clock.now().Add(7 * day)})
		if free() != 1 {
			t.Fatal("it is not offered")
		}
		x.moved("b.n-1.s", 1, progress{Lease: "l", Free: clock.now().Add(time.Minute)})
		clock.set(0)
		if free() != 0 {
			t.Error("it is offered while the lease lasts")
		}
		after(time.Minute)
		if free() != 1 {
			t.Error("it is not offered when the lease is over")
		}
	})
}

// TestWorkThatIsOverIsDropped: also what is away for longer, and what stands behind work that is not over.
func TestWorkThatIsOverIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newJobs(time.Now)
		defer x.taking("q")()
		now := time.Now()
		for place, within := range map[string]time.Duration{"b.n-1.s": day, "b.n-2.s": time.Hour, "b.n-3.s": time.Hour} {
			x.offered(place, sluice.WorkItem{Queue: "q", Since: now, Until: now.Add(within)})
		}
		x.moved("b.n-3.s", 1, progress{Taken: 1, Taker: "t", Free: now.Add(2 * time.Hour)})
		x.moved("b.n-1.s", 2, progress{Taken: 1, Taker: "t", Free: now.Add(time.Minute)})
		after(time.Hour)
		items := x.Items("q", 10)
		if len(items) != 1 || items[0].Until.Sub(now) != day || items[0].Taker != "" || !items[0].Expires.IsZero() {
			t.Errorf("there is %+v", items)
		}
		if picked, _, _ := x.pick("q", 10); len(picked) != 1 || x.count() != 1 {
			t.Errorf("%d items can be taken, %d are known", len(picked), x.count())
		}
	})
}
