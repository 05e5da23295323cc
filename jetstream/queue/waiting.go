package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
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
// Each node has an index of the waiting events in memory. Where others write as well, it follows the
// stream of states, in which each event has a subject of its own. The embedded engine would take more
// memory for such subjects than for all the rest: there all states of a pipeline have one subject,
// and all copies, and the index knows where they are.
type Waiting struct {
	host   *stream.Host
	node   string // this one
	stream stream.Written
	copies stream.Written
	now    func() time.Time
	clock  clock

	removed func() // has removals synced

	Work   *Work  // what events here wait for
	before uint64 // the last of what was stored at the start

	mu     sync.Mutex
	lines  map[string]*line // by binding
	count  int              // of events in them
	memory int64            // that the index may take; 0: any
	behind uint64           // states from before the start that are not in the index yet
	seen   uint64           // the last state in the index
}

// NewWaiting returns a waiting room. SetUp comes next.
func NewWaiting(h *stream.Host, memory int64) *Waiting {
	w := &Waiting{
		host: h, node: rand.Text(), now: time.Now, clock: clock{began: time.Now()}, lines: make(map[string]*line),
		memory: memory,
	}
	w.Work = newWork(w)
	return w
}

// SetUp creates the stream where it is missing, and begins to follow it.
func (w *Waiting) SetUp(ctx, running context.Context) (err error) {
	var synced [2]func()
	for i, s := range []struct {
		name, prefix string
		opened       *stream.Written
	}{{stream.Waiting, stream.WaitingPrefix, &w.stream}, {stream.Copies, stream.CopyPrefix, &w.copies}} {
		blocks := w.host.Blocks(s.name)
		if blocks != nil {
			blocks.Rewritten = true // removals are from the middle of the stream
		}
		if *s.opened, err = w.host.OpenWritten(ctx, running, jetstream.StreamConfig{
			Name: s.name, Subjects: []string{s.prefix + ">"}, AllowDirect: w.host.DirectReads,
		}, stream.WriterOptions{Blocks: blocks}); err != nil {
			return err
		}
		// An event that is back after a power cut has an outcome, and is removed again.
		synced[i] = w.host.SyncLater(running, blocks, "waiting events")
	}
	w.removed = func() { synced[0](); synced[1]() }
	if state := w.stream.CachedInfo().State; state.Msgs > 0 {
		w.before = state.LastSeq
	}
	stored, err := w.host.Follow(ctx, w.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{
		stream.WaitingPrefix + "*." + waitingState,
		stream.WaitingPrefix + "*.*." + waitingState,
		stream.WaitingPrefix + "*.*." + waitingWork + "*",
		stream.WaitingPrefix + "*.*." + waitingLease + "*",
	}})
	if err != nil {
		return err
	}
	w.behind = stored.Pending
	w.host.Start(func() { w.follow(running, stored) })
	if w.host.SoleWriter {
		w.host.Start(func() { w.sweepCopies(running, w.copies.CachedInfo().State.LastSeq) })
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
	if !strings.HasSuffix(msg.Subject(), "."+waitingState) {
		return w.Work.index(running, msg.Subject(), msg.Data(), meta.Sequence.Stream, meta.Timestamp)
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
	s.sequence = meta.Sequence.Stream
	w.removeAt(running, w.stream, w.note(binding, key, s))
	return true
}
