package queue

import (
	"strconv"
	"strings"
	"time"
	"unique"

	"sluice"
)

// An entry is an event in a line. There may be a million of them, so it is small: what few have is
// in their extra, and the rest of the state is on disk.
type entry struct {
	event, nonce uint64 // together its key
	sequence     uint64 // of its state; 0: it is not in the waiting room, but keeps its place

	Target           sluice.Target // as in the state, likewise the next ones
	Due, First, Call moment
	code, eventKey   unique.Handle[string]

	at    moment // when the event is taken: when it is due, or when this node looks again
	tried moment // when it was let go before it is due; 0: it was not

	twin *entry // the next one with the same sequence: that of a lost event is used again
	*extra
	Attempts int32
	Answer   bool
	queued   bool // it stands in line.due
	parked   bool // it does not, until it is its turn, or those of its group before it are gone
	indexed  bool // only the index knows where its state is
	claimed  bool // another node has it until it is due
	copied   bool // the event need not be in the stream of events any more
	hurried  bool // the attempt that goes on is followed by another one at once
}

// An extra is what only some entries have.
type extra struct {
	Order, Behind, Group uint64 // as in the state, likewise the next ones
	Came                 time.Time
	Wait, AtMost         time.Duration
	noted                moment // when this node heard that it came

	wake       chan<- sluice.Target // has one that keeps its place go on, see entry.tries
	supersedes []string             // the keys of the events that it runs in place of
}

// plain is the extra of entries that have none. It never changes.
var plain = new(extra)

// A moment is a time by the clock on the wall, in nanoseconds since 1970; 0: none.
type moment int64

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return 0
	}
	return moment(t.UnixNano())
}

func (m moment) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// here reports whether the event is in the waiting room.
func (e *entry) here() bool { return e.sequence != 0 }

// retries is state.retries.
func (e *entry) retries() bool { return e.Attempts > 0 && !e.Answer }

// busy reports whether the event is in its attempt.
func (e *entry) busy() bool { return e.claimed || !e.queued && !e.parked }

// outdated returns the sequence of its state when that has been replaced; 0: it goes with its subject.
func (e *entry) outdated() uint64 {
	if !e.indexed {
		return 0
	}
	return e.sequence
}

// tries returns the target that the event is let go for before it is due, 0 if it is due.
func (e *entry) tries() sluice.Target {
	if e.tried == 0 {
		return 0
	}
	return e.Target
}

// key is eventKey.
func (e *entry) key() string {
	return strconv.FormatUint(e.nonce, 36) + "-" + strconv.FormatUint(e.event, 36)
}

func parseKey(key string) (nonce, event uint64) {
	first, _, _ := strings.Cut(key, "-")
	nonce, _ = strconv.ParseUint(first, 36, 64)
	return nonce, sequenceOf(key)
}
