package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// Waiting is the waiting room: it keeps the events that wait for their next attempt, and
// replays that let live events go first. It stores a state of each, after each attempt. An event
// that is here is acknowledged. So it takes no place with its pipeline's consumer, does not hold back the
// low-water mark, and may be trimmed from the stream of events: before that, Outlive makes a copy.
//
// Each node has an index of the waiting events in memory. Where others write as well, it follows the
// stream of states, in which each event has a subject of its own, beside a copy. The embedded engine would
// take more memory for such subjects than for all the rest: there all states of a pipeline have one
// subject, and the index knows where they are.
type Waiting struct {
	host   *stream.Host
	node   string // this one
	stream stream.Written
	events jetstream.Stream
	ids    correlation.IDs
	now    func() time.Time
	clock  clock

	removed     func()               // has removals synced
	removeLater func(subject string) // removes what could not be removed, until it is gone or the engine stops

	Work   *Work  // what events here wait for
	before uint64 // the last of what was stored at the start

	mu     sync.Mutex
	lines  map[string]*line    // by binding
	kept   map[string][]uint64 // sequences of what is kept of events, by binding and event; see keepAt
	count  int                 // of events in them
	memory int64               // that the index may take; 0: any
	behind uint64              // states from before the start that are not in the index yet
	seen   uint64              // the last state in the index
}

// NewWaiting returns a waiting room. SetUp comes next.
func NewWaiting(h *stream.Host, memory int64) *Waiting {
	w := &Waiting{
		host: h, node: rand.Text(), now: time.Now, clock: clock{began: time.Now()}, lines: make(map[string]*line),
		kept:   make(map[string][]uint64),
		memory: memory,
	}
	w.Work = newWork(w)
	return w
}

// SetUp creates the stream where it is missing, and begins to follow it.
func (w *Waiting) SetUp(ctx, running context.Context) (err error) {
	blocks := w.host.Blocks(stream.Waiting, true)
	if w.stream, err = w.host.OpenWritten(ctx, running, jetstream.StreamConfig{
		Name: stream.Waiting, Subjects: []string{stream.WaitingPrefix + ">"}, AllowDirect: w.host.DirectReads,
	}, stream.WriterOptions{Blocks: blocks}); err != nil {
		return err
	}
	// An event that is back after a power cut has an outcome, and is removed again.
	w.removed = w.host.SyncLater(running, blocks, "waiting events")
	w.removeLater = func(subject string) {
		w.host.Start(func() {
			for wait.For(running, consumeRetry) == nil &&
				w.stream.Purge(running, jetstream.WithPurgeSubject(subject)) != nil {
			}
		})
	}
	if state := w.stream.CachedInfo().State; state.Msgs > 0 {
		w.before = state.LastSeq
	}
	stored, err := w.host.Follow(ctx, w.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{
		stream.WaitingPrefix + "*." + waitingState,
		stream.WaitingPrefix + "*.*." + waitingState,
		stream.WaitingPrefix + "*.*." + waitingKept + "*",
		stream.WaitingPrefix + "*.*." + waitingWork + "*",
		stream.WaitingPrefix + "*.*." + waitingLease + "*",
	}})
	if err != nil {
		return err
	}
	w.behind = stored.Pending
	w.host.Start(func() { w.follow(running, stored) })
	if w.host.SoleWriter {
		w.host.Start(func() { w.tidyMemory(running) })
		return nil
	}
	return w.obey(running)
}

// follow adds the states and the work that are stored, here or by other nodes, to the index.
func (w *Waiting) follow(running context.Context, stored *stream.Follower) {
	for {
		msg, meta, err := stored.Next(running)
		if err != nil {
			return // the engine stops
		}
		if msg == nil {
			w.caughtUp(0, 0)
			continue
		}
		if !w.index(running, msg, meta) {
			w.host.Log.Error("What is stored of a waiting event can't be read; it is left out.",
				"subject", msg.Subject())
		}
		w.caughtUp(meta.Sequence.Stream, meta.NumPending)
	}
}

func (w *Waiting) index(running context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata) (ok bool) {
	if place, kind, ok := keptPlace(msg.Subject()); ok {
		if meta.Sequence.Stream <= w.before { // a later one was noted when it was stored
			w.keepAt(eventPlace(place), meta.Sequence.Stream)
		}
		return w.Work.index(running, place, kind, msg.Data(), meta.Sequence.Stream, meta.Timestamp)
	}
	if w.host.SoleWriter && meta.Sequence.Stream > w.before {
		return true // noted when it was stored
	}
	var s state
	if json.Unmarshal(msg.Data(), &s) != nil {
		return false
	}
	binding, key, ok := waitingKey(msg.Subject(), s)
	if !ok {
		return false
	}
	s = w.onClock(s, meta.Timestamp)
	if s.sequence = meta.Sequence.Stream; s.Key == "" {
		w.keepAt(binding+"."+key, s.sequence)
	}
	w.removeState(running, w.note(binding, key, s))
	return true
}
