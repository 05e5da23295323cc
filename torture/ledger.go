package main

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// A receipt is what the caller of an acknowledged call holds.
type receipt struct {
	id            uint64 // of the call: part of its body
	traceID       string
	correlationID string
}

// A ledger keeps what was answered, beyond the reach of what happens to the
// server and its disk.
type ledger struct {
	issued atomic.Uint64 // ids given to calls

	mu       sync.Mutex
	receipts []receipt
	checked  int             // how many of them an earlier check has seen
	lost     map[uint64]bool // ids that a check has missed

	hooks   hookLedger
	targets []*hook // those that are called, and never changed
}

func newLedger() *ledger {
	return &ledger{lost: make(map[uint64]bool), hooks: hookLedger{byKey: make(map[string]*hook)}}
}

// newID gives the id of a call to be made.
func (l *ledger) newID() uint64 { return l.issued.Add(1) }

// acknowledged notes that a call was answered with 200.
func (l *ledger) acknowledged(r receipt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.receipts = append(l.receipts, r)
}

// acked counts the calls that were acknowledged.
func (l *ledger) acked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.receipts)
}

// miss notes that an acknowledged call was not found.
func (l *ledger) miss(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost[id] = true
}

// missAll notes that nothing was found.
func (l *ledger) missAll() {
	for _, r := range l.receipts {
		l.miss(r.id)
	}
}

// sample gives all receipts since the last check, and some of the older ones.
// Those already known as lost are left out.
func (l *ledger) sample(random *rand.Rand, older int) []receipt {
	var chosen []receipt
	for _, r := range l.receipts[l.checked:] {
		if !l.lost[r.id] {
			chosen = append(chosen, r)
		}
	}
	for range min(older, l.checked) {
		if r := l.receipts[random.IntN(l.checked)]; !l.lost[r.id] {
			chosen = append(chosen, r)
		}
	}
	l.checked = len(l.receipts)
	return chosen
}

// compare notes which acknowledged calls are not among the stored ones, and
// counts the calls that were stored more than once.
func (l *ledger) compare(stored map[uint64]int) (duplicated int) {
	for _, r := range l.receipts {
		if stored[r.id] == 0 {
			l.miss(r.id)
		}
	}
	for _, times := range stored {
		if times > 1 {
			duplicated++
		}
	}
	return duplicated
}
