package main

import (
	"slices"
	"testing"

	"sluice"
)

func TestCompareFindsLostAndDuplicated(t *testing.T) {
	l := newLedger()
	for range 4 {
		l.acknowledged(receipt{id: l.newID()})
	}
	unanswered := l.newID()
	if n := l.compare(map[uint64]int{1: 1, 2: 2, 4: 1, unanswered: 1}); n != 1 {
		t.Errorf("%d duplicated", n)
	}
	if len(l.lostCalls) != 1 || !l.lostCalls[3] {
		t.Errorf("lost %v, want 3", l.lostCalls)
	}
	l.compare(map[uint64]int{1: 1, 2: 1, 4: 1})
	if len(l.lostCalls) != 1 {
		t.Errorf("the same loss counts twice: %v", l.lostCalls)
	}
}

// TestCompareFindsTornCalls: of a call with several events all are stored, or none; also if nobody was answered.
func TestCompareFindsTornCalls(t *testing.T) {
	splits := slices.IndexFunc(kinds, func(k kind) bool { return k.splits })
	stored := map[uint64]int{}
	store := func(call uint64, n int) {
		for _, id := range kinds[splits].eventIDs(call)[:n] {
			stored[id] = 1
		}
	}
	l := newLedger()
	for range 3 {
		l.acknowledged(receipt{id: l.newID(), kind: splits})
	}
	store(1, itemsOfACall)
	store(2, 2)
	store(4, 3)
	store(5, itemsOfACall)
	if n := l.compare(stored); n != 0 || len(l.lostCalls) != 3 || !l.lostCalls[2] || !l.lostCalls[3] || !l.lostCalls[4] {
		t.Errorf("%d duplicated, lost %v, want 2, 3 and 4", n, l.lostCalls)
	}
}

func TestSampleHasAllThatIsNew(t *testing.T) {
	l, random := newLedger(), settings{seed: 1}.random()
	for range 100 {
		l.acknowledged(receipt{id: l.newID()})
	}
	l.loseCall(5)
	if n := len(l.sample(random, 10)); n != 99 {
		t.Errorf("first sample of %d, want all but the lost one", n)
	}
	l.acknowledged(receipt{id: l.newID()})
	if n := len(l.sample(random, 10)); n < 2 || n > 11 {
		t.Errorf("second sample of %d, want the new one and up to 10 others", n)
	}
}

// found returns a webhook as a server would show that version of it.
func found(h *hook, version int) sluice.Webhook {
	return sluice.Webhook{
		UUID:             "u",
		EventKey:         h.key,
		MaxPayloadLength: maxPayloadLength(version),
		PayloadType:      payloadType(version),
	}
}

func TestHooks(t *testing.T) {
	mixed := func(w sluice.Webhook) sluice.Webhook { w.PayloadType = sluice.Ignore; return w }
	gone := func(*hook) []sluice.Webhook { return nil }
	version := func(n int) func(*hook) []sluice.Webhook {
		return func(h *hook) []sluice.Webhook { return []sluice.Webhook{found(h, n)} }
	}
	for _, c := range []struct {
		name  string
		hook  hook
		found func(*hook) []sluice.Webhook
		lost  int
		stays bool // damage that is there at the next check as well
	}{
		{"as answered", hook{uuid: "u", version: 3, asked: 3}, version(3), 0, false},
		{"as asked later", hook{uuid: "u", version: 3, asked: 4}, version(4), 0, false},
		{"older than answered", hook{uuid: "u", version: 3, asked: 4}, version(2), 1, false},
		{"vanished", hook{uuid: "u", version: 3, asked: 3}, gone, 1, false},
		{"another token", hook{uuid: "v", version: 3, asked: 3}, version(3), 1, false},
		{"mixed up", hook{uuid: "u", version: 3, asked: 3}, func(h *hook) []sluice.Webhook { return []sluice.Webhook{mixed(found(h, 3))} }, 1, true},
		{"deleted", hook{uuid: "u", deleting: true, deleted: true}, gone, 0, false},
		{"back from the dead", hook{uuid: "u", deleting: true, deleted: true}, version(0), 1, false},
		{"delete not answered, gone", hook{uuid: "u", deleting: true}, gone, 0, false},
		{"delete not answered, there", hook{uuid: "u", deleting: true}, version(0), 0, false},
		{"create not answered, gone", hook{}, gone, 0, false},
		{"create not answered, there", hook{}, version(0), 0, false},
		{"nobody's", hook{}, func(*hook) []sluice.Webhook { return []sluice.Webhook{{EventKey: "webhook.stray"}} }, 1, true},
	} {
		l := &newLedger().hooks
		h := l.create()
		c.hook.key = h.key
		*h = c.hook
		found := c.found(h)
		l.compare(found)
		if l.lost != c.lost {
			t.Errorf("%s: %d lost, want %d", c.name, l.lost, c.lost)
		}
		if l.compare(found); l.lost != c.lost && !c.stays {
			t.Errorf("%s: the same loss counts twice", c.name)
		}
	}
}
