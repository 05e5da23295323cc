package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// Waiting is the waiting room: it keeps the events that wait for their next attempt, and
// replays that let live events go first. It stores a copy of each and, after each
// attempt, a state. An event that is here is acknowledged. So it takes no place with its
// pipeline's consumer, does not hold back the low-water mark, and may be trimmed from the
// stream of events.
//
// Each node has an index of the waiting events in memory, which follows the stream.
type Waiting struct {
	host   *stream.Host
	node   string // this one
	stream stream.Written
	now    func() time.Time
	clock  clock

	removed func() // has removals synced

	Work    *Work // what events here wait for
	earlier bool  // there was something in it at the start

	mu     sync.Mutex
	lines  map[string]*line // by binding
	behind uint64           // states from before the start that are not in the index yet
	seen   uint64           // the last state in the index
}

// NewWaiting returns a waiting room. SetUp comes next.
func NewWaiting(h *stream.Host) *Waiting {
	w := &Waiting{
		host: h, node: rand.Text(), now: time.Now, clock: clock{began: time.Now()}, lines: make(map[string]*line),
	}
	w.Work = newWork(w)
	return w
}

// SetUp creates the stream where it is missing, and begins to follow it.
func (w *Waiting) SetUp(ctx, running context.Context) (err error) {
	blocks := w.host.Blocks(stream.Waiting)
	if blocks != nil {
		blocks.Rewritten = true // removals are from the middle of the stream
	}
	w.stream, err = w.host.OpenWritten(ctx, running, jetstream.StreamConfig{
		Name:        stream.Waiting,
		Subjects:    []string{stream.WaitingPrefix + ">"},
		AllowDirect: w.host.DirectReads,
	}, stream.WriterOptions{Blocks: blocks})
	if err != nil {
		return err
	}
	w.earlier = w.stream.CachedInfo().State.Msgs > 0
	// An event that is back after a power cut has an outcome, and is removed again.
	w.removed = w.host.SyncLater(running, blocks, "waiting events")
	states, err := w.host.Follow(ctx, w.stream,
		jetstream.OrderedConsumerConfig{FilterSubjects: []string{stream.WaitingPrefix + "*.*." + waitingState}})
	if err != nil {
		return err
	}
	work, err := w.host.Follow(ctx, w.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{
		stream.WaitingPrefix + "*.*." + waitingWork + "*", stream.WaitingPrefix + "*.*." + waitingLease + "*",
	}})
	if err != nil {
		return err
	}
	w.host.Start(func() { w.Work.follow(running, work) })
	w.behind = states.Pending
	w.host.Start(func() { w.follow(running, states) })
	if w.host.SoleWriter {
		return nil
	}
	return w.obey(running)
}

// follow adds the states that are stored, here or by other nodes, to the index.
func (w *Waiting) follow(running context.Context, states *stream.Follower) {
	for {
		msg, meta, err := states.Next(running)
		if err != nil {
			return // the engine stops
		}
		binding, key, ok := waitingKey(msg.Subject())
		var s state
		if !ok || json.Unmarshal(msg.Data(), &s) != nil {
			w.host.Log.Error("The state of a waiting event can't be read; it is left out.", "subject", msg.Subject())
			w.caughtUp(meta.Sequence.Stream, meta.NumPending)
			continue
		}
		s.sequence, s.Due = meta.Sequence.Stream, w.onClock(s, meta.Timestamp)
		w.note(binding, key, s, meta.NumPending)
	}
}
