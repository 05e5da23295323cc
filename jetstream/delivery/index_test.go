package delivery

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sluice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEntriesKeepWhatTheyAreGiven: a trace id is put together again from its
// parts.
func TestEntriesKeepWhatTheyAreGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(1, 1<<41).Draw(t, "at"))
		traceID := sluice.NewTraceID("00000000-0000-4000-8000-0000008e28f2", at)
		f := fingerprintOf(rapid.String().Draw(t, "id"), []byte("body"), time.Hour)
		sequence := rapid.Uint64Range(1, 1<<44).Draw(t, "sequence")
		e := entryOf(f, sequence, traceID, at)
		got := e.accepted("8e28f2")
		if got.TraceID != traceID || got.Sequence != sequence || got.Digest != f.Digest || !got.At.Equal(at) || *e.key() != f.Key {
			t.Fatalf("%+v of %s, %d", got, traceID, sequence)
		}
	})
}

// TestAHistoryIsAMapInOrder compares a history with a map.
func TestAHistoryIsAMapInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := history{keep: time.Hour, first: rapid.SampledFrom([]uint64{0, 5, round - 40, round*3 - 1}).Draw(t, "first")}
		s.next = s.first
		var order []entry
		made := uint32(0)
		newest := map[[12]byte]entry{}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "count") {
					var e entry
					binary.BigEndian.PutUint32(e[:], rapid.Uint32Range(0, 300).Draw(t, "key"))
					made++
					binary.BigEndian.PutUint32(e[21:], made)
					s.put(e)
					order, newest[*e.key()] = append(order, e), e
				}
			},
			"drop": func(t *rapid.T) {
				for range min(len(order), rapid.IntRange(1, 200).Draw(t, "count")) {
					if newest[*order[0].key()] == order[0] {
						delete(newest, *order[0].key())
					}
					s.drop()
					order = order[1:]
				}
			},
			"": func(t *rapid.T) {
				if s.len() != len(order) || s.used < len(newest) || s.used*4 > len(s.table)*3+4 {
					t.Fatalf("%d entries, %d of %d slots are used; want %d with %d keys", s.len(), s.used, len(s.table), len(order), len(newest))
				}
				for key, want := range newest {
					if got := s.get(&key); got == nil || *got != want {
						t.Fatalf("%v is %v, want %v", key, got, want)
					}
				}
				if got := s.get(&[12]byte{9}); got != nil {
					t.Fatalf("found %v", got)
				}
			},
		})
	})
}

// TestOneOfManyIsTheFirst: of calls at the same moment one is accepted, the others
// learn which, also if the first ones fail.
func TestOneOfManyIsTheFirst(t *testing.T) {
	x := NewIndex(0)
	now := time.Now()
	f := fingerprintOf("id", nil, time.Hour)
	var mu sync.Mutex
	firsts, failures := 0, 0
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			first, _, err := x.Begin(t.Context(), f, "owner0", now)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case first != nil:
				if first.Sequence != 7 {
					t.Errorf("the first is %+v", first)
				}
			case failures < 3:
				failures++
				x.Fail(f, false, 0)
			default:
				firsts++
				x.End(f, 7, sluice.NewTraceID("owner0", now), now)
			}
		})
	}
	all.Wait()
	if firsts != 1 || x.Count() != 1 {
		t.Errorf("%d were the first, %d are known", firsts, x.Count())
	}
	if first, _, _ := x.Begin(t.Context(), f, "owner0", now.Add(61*time.Minute)); first != nil {
		t.Errorf("known after the window: %+v", first)
	}
	x.Fail(f, true, 5)
	if _, doubt, _ := x.Begin(t.Context(), f, "owner0", now.Add(61*time.Minute)); doubt == nil || *doubt != 5 {
		t.Errorf("the doubt is %v", doubt)
	}
	x.Expire(now.Add(2 * time.Hour))
	if x.Count() != 0 {
		t.Errorf("%d are known", x.Count())
	}
}

// TestTheOldestMakeRoom: the number of ids is bounded.
func TestTheOldestMakeRoom(t *testing.T) {
	x := NewIndex(1000 * bytesPerID)
	for i := range 5000 {
		x.End(fingerprintOf(fmt.Sprint(i), nil, 24*time.Hour), uint64(i), sluice.NewTraceID("owner0", time.Now()), time.Now())
	}
	if n := x.Count(); n < 1000 || n > 1000+int64(len(x.shards)) {
		t.Errorf("%d are known", n)
	}
	if first, _, _ := x.Begin(t.Context(), fingerprintOf("4999", nil, 24*time.Hour), "owner0", time.Now()); first == nil {
		t.Error("the newest is not known")
	}
}

// TestNobodyTakesTheIDsOfOthers: of too many ids, those are forgotten of whoever has most, by any
// number of webhooks, whichever window they have.
func TestNobodyTakesTheIDsOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 1280
		x := NewIndex(most * bytesPerID)
		now := time.Now()
		windows := rapid.SampledFrom([]time.Duration{time.Hour, 24 * time.Hour, 168 * time.Hour})
		quiet, loud := windows.Draw(t, "quiet window"), windows.Draw(t, "loud window")
		floods := rapid.IntRange(1, 20).Draw(t, "floods")
		few := rapid.IntRange(1, most/(2*(floods+1))).Draw(t, "ids of the quiet one")
		note := func(owner, id string, window time.Duration) {
			x.End(fingerprintOf(owner+id, nil, window), 1, sluice.NewTraceID(owner, now), now)
		}
		for i := range few {
			note("quiet0", fmt.Sprint(i), quiet)
		}
		for i := range 4 * most {
			note(fmt.Sprintf("loud%02d", i%floods), fmt.Sprint(i), loud)
		}
		for i := range few {
			f := fingerprintOf("quiet0"+fmt.Sprint(i), nil, quiet)
			if first, err := x.Find(t.Context(), f, "quiet0"); first == nil || err != nil {
				t.Fatalf("the id %d of %d is forgotten (%v)", i, few, err)
			}
		}
		if n := x.Count(); n > most+most/8+int64(len(x.shards)) {
			t.Errorf("%d are known", n)
		}
		if want := int64(few+4*most) - x.Count(); x.Dropped() != want {
			t.Errorf("%d were dropped, %d are told", want, x.Dropped())
		}
	})
}

// TestRecordsOfEarlierVersions: they have entries without owners, beside which newer ones stand.
func TestRecordsOfEarlierVersions(t *testing.T) {
	now := time.Now()
	ids := []string{"old", "new"}
	var b block
	for i, id := range ids {
		e := entryOf(fingerprintOf(id, nil, time.Hour), uint64(i), sluice.NewTraceID("owner0", now), now)
		if id == "old" {
			b.entries = append(append(b.entries, 0), e[:unowned]...)
		} else {
			b.add(0, e)
		}
	}
	x := NewIndex(0)
	x.read(b.entries, now)
	for _, id := range ids {
		if first, err := x.Find(t.Context(), fingerprintOf(id, nil, time.Hour), "owner0"); first == nil || err != nil {
			t.Errorf("%s is not known (%v)", id, err)
		}
	}
}

// fingerprintOf returns the fingerprint of a delivery of a webhook without a key.
func fingerprintOf(id string, body []byte, window time.Duration) *sluice.Fingerprint {
	var e sluice.Event
	e.SetFingerprint(nil, "token", id, body, window)
	return e.Fingerprint
}
