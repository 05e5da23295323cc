package main

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

// A receipt is what the caller of an acknowledged call holds.
type receipt struct {
	id            uint64 // of the call: part of its body
	kind          int    // index of the webhook's kind
	correlationID string
	traceID       string
	result        digest // of the result, once that was read
}

// A ledger keeps what was answered, beyond the reach of what happens to the
// server and its disk.
type ledger struct {
	issued atomic.Uint64 // ids given to calls

	mu          sync.Mutex
	inVain      []sent // calls that were not answered: they are made again
	twice       int    // calls that were answered as new ones when they were made again
	receipts    []receipt
	checked     int             // how many of them an earlier check has seen
	lostCalls   map[uint64]bool // ids that a check has missed
	lostResults map[uint64]bool // ids whose result a check has missed, or found changed
	lostTraces  map[uint64]bool // ids that a search did not find
	cut         map[uint64]bool // ids of calls of which some events were removed to make room

	hooks   hookLedger
	targets []*hook // those that are called, and never changed
	counter *counter
}

func newLedger() *ledger {
	return &ledger{
		lostCalls:   make(map[uint64]bool),
		lostResults: make(map[uint64]bool),
		lostTraces:  make(map[uint64]bool),
		hooks:       hookLedger{byKey: make(map[string]*hook)},
	}
}

// newID returns the id of a call to be made.
func (l *ledger) newID() uint64 { return l.issued.Add(1) }

// A sent call is one that was made, answered or not.
type sent struct {
	id   uint64
	kind int
}

// unanswered notes that a call was made and not answered with 200.
func (l *ledger) unanswered(s sent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inVain = append(l.inVain, s)
}

// takeUnanswered returns a call to make again, if there is one.
func (l *ledger) takeUnanswered() (s sent, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inVain) == 0 {
		return s, false
	}
	s, l.inVain = l.inVain[0], l.inVain[1:]
	return s, true
}

// tookTwice notes that a call made again was taken for a new one.
func (l *ledger) tookTwice() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.twice++
}

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

// loseCall notes that an acknowledged call was not found.
func (l *ledger) loseCall(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lostCalls[id] = true
}

// loseResult notes that the result of an acknowledged call is not what it has to
// be, and counts those.
func (l *ledger) loseResult(id uint64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lostResults[id] = true
	return len(l.lostResults)
}

// loseAll notes that nothing was found.
func (l *ledger) loseAll() {
	for _, r := range l.receipts {
		l.loseCall(r.id)
		l.lostTraces[r.id] = true
		if kinds[r.kind].name != "" {
			l.loseResult(r.id)
		}
	}
}

// results counts the acknowledged calls that have a result of a pipeline, and
// the runs beyond the first of each.
func (l *ledger) results() (results, repeated int) {
	for _, r := range l.receipts {
		if kinds[r.kind].name != "" {
			results++
		}
		if kinds[r.kind].counts {
			repeated += max(0, l.counter.of(r.correlationID)-1)
		}
	}
	return results, repeated
}

// sample returns all receipts since the last check, and some of the older ones.
// Those already known as lost are left out.
func (l *ledger) sample(random *rand.Rand, older int) []*receipt {
	var chosen []*receipt
	choose := func(i int) {
		r := &l.receipts[i]
		if !l.lostCalls[r.id] && !l.lostResults[r.id] {
			chosen = append(chosen, r)
		}
	}
	for i := l.checked; i < len(l.receipts); i++ {
		choose(i)
	}
	for _, i := range random.Perm(l.checked)[:min(older, l.checked)] {
		choose(i)
	}
	l.checked = len(l.receipts)
	return chosen
}

// compare notes which acknowledged calls are not among the stored ones, and which are there in part,
// acknowledged or not. It counts the events that were stored more than once.
func (l *ledger) compare(stored map[uint64]int) (duplicated int) {
	for _, r := range l.receipts {
		if !r.isStored(stored) {
			l.loseCall(r.id)
		}
	}
	for call := range torn(stored) {
		if !l.cut[call] {
			l.loseCall(call)
		}
	}
	for _, times := range stored {
		if times > 1 {
			duplicated++
		}
	}
	return duplicated
}

// atOnce is more calls than are under way at a time, so that they may be stored in another
// order than they were answered.
const atOnce = 512

// trimmed forgets the calls that are older than all stored ones: they were removed to make
// room. The others are still looked for.
func (l *ledger) trimmed(stored map[uint64]int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest := slices.IndexFunc(l.receipts, func(r receipt) bool { return r.isStored(stored) })
	if oldest <= 0 {
		return errors.New("nothing was removed to make room: load longer")
	}
	until := min(oldest+atOnce, len(l.receipts))
	kept := slices.DeleteFunc(l.receipts[:until:until], func(r receipt) bool { return !r.isStored(stored) })
	l.receipts = append(kept, l.receipts[until:]...)
	l.checked, l.cut = 0, torn(stored)
	return nil
}
