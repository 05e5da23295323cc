package queue

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/jetstream/stream"
)

// TestEventsThatAreOne: of those that follow each other within the wait the last one runs, for
// all of them, and no later than the longest wait after the first; also if they are found late,
// as after a restart.
func TestEventsThatAreOne(t *testing.T) {
	const wait, atMost = 10 * time.Second, 25 * time.Second
	type run struct {
		at      time.Duration
		last    int
		besides []int // whom it stands for besides
	}
	for name, test := range map[string]struct {
		came []time.Duration
		want []run
		late bool // all are found at the end
	}{
		"one alone":        {came: []time.Duration{0}, want: []run{{at: wait, last: 0}}},
		"three":            {came: []time.Duration{0, 5e9, 12e9}, want: []run{{at: 22e9, last: 2, besides: []int{0, 1}}}},
		"two bursts":       {came: []time.Duration{0, 5e9, 16e9, 17e9}, want: []run{{at: 15e9, last: 1, besides: []int{0}}, {at: 27e9, last: 3, besides: []int{2}}}},
		"at most":          {came: []time.Duration{0, 9e9, 18e9, 27e9}, want: []run{{at: 25e9, last: 2, besides: []int{0, 1}}, {at: 37e9, last: 3}}},
		"just before":      {came: []time.Duration{0, 9e9, 18e9, 24.5e9}, want: []run{{at: 25e9, last: 3, besides: []int{0, 1, 2}}}},
		"two bursts, late": {came: []time.Duration{0, 5e9, 16e9, 17e9}, late: true, want: []run{{at: 61e9, last: 1, besides: []int{0}}, {at: 61e9, last: 3, besides: []int{2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, began := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now()
				note := func(i int) {
					w.note("b", keyOf(i), state{Group: 7, Came: began.Add(test.came[i]), Wait: wait, AtMost: atMost, sequence: uint64(i + 1)})
				}
				if test.late {
					after(time.Minute)
				}
				for i, came := range test.came {
					if test.late {
						note(i)
					} else {
						time.AfterFunc(came, func() { note(i) })
					}
				}
				for _, want := range test.want {
					check, e := w.await(t.Context(), "b"), w.pick("b")
					for e == nil && check == nil { // others had come
						check, e = w.await(t.Context(), "b"), w.pick("b")
					}
					var others []string
					for _, i := range want.besides {
						others = append(others, keyOf(i))
					}
					if at := time.Since(began); check != nil || e == nil || e.key() != keyOf(want.last) || at != want.at || !slices.Equal(e.supersedes, others) {
						t.Fatalf("after %s %+v runs, want %+v", at, e, want)
					}
					for _, key := range append(others, e.key()) {
						w.forget("b", key)
					}
				}
				if count, _, _ := w.counts("b"); count != 0 || w.line("b").due.Len() != 0 || len(w.line("b").groups) != 0 {
					t.Errorf("%d are left", count)
				}
			})
		})
	}
}

// TestAGroupThatIsFoundLate: of events that came together, and are known one after the other, as when a
// paused pipeline goes on, the last one runs.
func TestAGroupThatIsFoundLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, came := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now().Add(-time.Hour)
		for i := range 4 {
			w.note("b", keyOf(i), state{Group: 7, Came: came, Wait: time.Minute, AtMost: time.Hour, sequence: uint64(i + 1)})
			if e := w.pick("b"); e != nil {
				t.Errorf("%s runs before the others are known", e.key())
			}
			after(settling / 2)
		}
		after(settling)
		if e := w.pick("b"); e == nil || e.key() != keyOf(3) || len(e.supersedes) != 3 {
			t.Errorf("%+v runs", e)
		}
	})
}

// TestALargeGroup: each event that joins costs the same, however many there are.
func TestALargeGroup(t *testing.T) {
	const many = 100_000
	synctest.Test(t, func(t *testing.T) {
		w, now := NewWaiting(&stream.Host{SoleWriter: true}, 0), time.Now()
		for i := range many {
			w.note("b", keyOf(i), state{Group: 7, Came: now, Wait: time.Minute, AtMost: time.Hour, sequence: uint64(i + 1)})
		}
		after(time.Minute)
		if e := w.pick("b"); e == nil || e.key() != keyOf(many-1) || len(e.supersedes) != many-1 {
			t.Errorf("%+v runs", e)
		}
	})
}
