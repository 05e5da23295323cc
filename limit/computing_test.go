package limit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/limit"
)

// aLot is more than anybody computes without a place.
const aLot = 1_000_000

// TestComputing: those that compute for long have few places. Of all that wait for one, each group has one,
// and of a group each name, so that many don't hold up few.
func TestComputing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		computing := limit.NewComputing()
		full, order := fill(t, computing), make(chan string, 200)
		compute := func(group, name string) {
			go func() {
				w := computing.Work(t.Context(), group, name)
				if err := errors.Join(w.Spend(1), w.Spend(w.Left()+1)); err != nil {
					t.Error(err)
				}
				order <- group + name
				w.Rest()
			}()
			synctest.Wait()
		}
		for range 100 {
			compute("many", "a")
		}
		compute("many", "b")
		compute("few", "a")
		if len(order) > 0 {
			t.Error("there are more places")
		}
		full()
		var done []string
		for range 102 {
			done = append(done, <-order)
		}
		if few := slices.Index(done, "fewa"); few > 2 {
			t.Errorf("those of another group wait behind %d", few)
		}
		if other := slices.Index(done, "manyb"); other > 4 {
			t.Errorf("those of another name wait behind %d", other)
		}
	})
}

// TestComputingALittle needs no place, and what has no bound needs none at all.
func TestComputingALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		computing := limit.NewComputing()
		defer fill(t, computing)()
		w := computing.Work(t.Context(), "", "")
		began, err := w.Begin(false)
		if err = errors.Join(err, w.Spend(10_000)); err != nil || w.Left() != 10_000 {
			t.Errorf("%d steps are left, %v", w.Left(), err)
		}
		w.End(began)
		var unbound *limit.Work
		_, err = unbound.Begin(true)
		if err = errors.Join(err, unbound.Spend(aLot)); err != nil {
			t.Error(err)
		}
		unbound.End(began)
		unbound.Until(t.Context())()
	})
}

// TestComputingEnds: whoever waits for a place gives up when the context ends, also that of a part.
func TestComputingEnds(t *testing.T) {
	for name, compute := range map[string]func(w *limit.Work) error{
		"steps":            func(w *limit.Work) error { return w.Spend(aLot) },
		"what takes long":  func(w *limit.Work) error { _, err := w.Begin(true); return err },
		"what took longer": func(w *limit.Work) error { w.End(time.Now().Add(-time.Second)); return w.Spend(0) },
		"a part": func(w *limit.Work) error {
			part, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			defer w.Until(part)()
			return w.Spend(aLot)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				computing := limit.NewComputing()
				full := fill(t, computing)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := compute(computing.Work(ctx, "", "")); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the error is %v", err)
				}
				full()
				fill(t, computing)() // nothing was kept
			})
		})
	}
}

// fill takes all places, until release is called.
func fill(t *testing.T, computing *limit.Computing) (release func()) {
	t.Helper()
	var all []*limit.Work
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		w := computing.Work(context.Background(), "full", "full")
		end := w.Until(ctx)
		err := w.Spend(w.Left() + 1)
		end()
		cancel()
		if err != nil {
			break
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		t.Fatal("there are no places")
	}
	return func() {
		for _, w := range all {
			w.Rest()
		}
	}
}
