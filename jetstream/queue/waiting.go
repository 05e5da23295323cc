package queue

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	// stream.WaitingPrefix comes before the binding, the event's key, and one of these.
	waitingEvent = "event"
	waitingState = "state"

	// maxWaiting bounds the events of one pipeline that wait here. Further ones keep
	// their place with the consumer, which then delivers no more.
	maxWaiting = 100_000
	// waitingSync is how often removals are synced.
	waitingSync = time.Second
	// lease is how long a claim on an event lasts. The node that runs the event
	// renews it in time.
	lease = 30 * time.Second
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
	stream jetstream.Stream
	writer stream.Writer
	dirty  atomic.Bool // something was removed since the last sync
	now    func() time.Time
	clock  clock

	mu     sync.Mutex
	lines  map[string]*line // by binding
	behind uint64           // states from before the start that are not in the index yet
}

// A state is how far an event has come with a pipeline.
type state struct {
	Attempts int       `json:"attempts"`           // that have failed
	Count    int       `json:"count"`              // of deliveries
	First    time.Time `json:"first,omitzero"`     // when the first attempt began
	Due      time.Time `json:"due"`                // when the next attempt is
	Told     time.Time `json:"told,omitzero"`      // when that was told, by the same clock
	Code     string    `json:"code,omitempty"`     // of the last attempt's error
	Recovers bool      `json:"recovers,omitempty"` // the event waits for its target, and follows when that is back
	EventKey string    `json:"eventKey,omitempty"` // of the call that became the event; empty for others
	Call     time.Time `json:"call,omitzero"`      // when that call came
	Held     bool      `json:"held,omitempty"`     // the event is not here: it keeps its place
	Node     string    `json:"node,omitempty"`     // has claimed the event until it is due
	sequence uint64    // of the state itself
}

// NewWaiting returns a waiting room. SetUp comes next.
func NewWaiting(h *stream.Host) *Waiting {
	return &Waiting{host: h, node: rand.Text(), now: time.Now, clock: clock{began: time.Now()}, lines: make(map[string]*line)}
}

// SetUp creates the stream where it is missing, and begins to follow it.
func (w *Waiting) SetUp(ctx, running context.Context) (err error) {
	w.stream, err = w.host.OpenStream(ctx, w.host.JS, w.host.Config(jetstream.StreamConfig{
		Name:        stream.Waiting,
		Subjects:    []string{stream.WaitingPrefix + ">"},
		AllowDirect: w.host.DirectReads,
	}))
	if err != nil {
		return err
	}
	blocks := w.host.Blocks(stream.Waiting)
	if blocks != nil {
		blocks.Rewritten = true // removals are from the middle of the stream
	}
	if w.writer, err = w.host.StartWriter(running, w.stream, stream.WriterOptions{Blocks: blocks}); err != nil {
		return err
	}
	states, err := w.host.Follow(ctx, w.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{stream.WaitingPrefix + "*.*." + waitingState}})
	if err != nil {
		return err
	}
	w.behind = states.Pending
	w.host.Start(func() { w.follow(running, states) })
	if blocks != nil {
		w.syncRemovals(running, blocks)
	}
	if w.host.SoleWriter {
		return nil
	}
	return w.obey(running)
}

// syncRemovals regularly syncs the blocks that the engine rewrites to remove events. An
// event that is back after a power cut has an outcome, and is removed again.
func (w *Waiting) syncRemovals(running context.Context, blocks *durable.Blocks) {
	w.host.Every(running, waitingSync, func(time.Time) {
		if w.dirty.Swap(false) {
			if err := blocks.Sync(); err != nil {
				w.host.Fail(fmt.Errorf("sync of waiting events: %w", err))
			}
		}
	})
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
			continue
		}
		s.sequence, s.Due = meta.Sequence.Stream, w.onClock(s, meta.Timestamp)
		w.note(binding, key, s, meta.NumPending)
	}
}

// sequenceOf returns the sequence of the event with a key, 0 if it is no key.
func sequenceOf(key string) uint64 {
	_, text, _ := strings.Cut(key, "-")
	sequence, _ := strconv.ParseUint(text, 36, 64)
	return sequence
}

func waitingSubject(binding, key, kind string) string {
	return stream.WaitingPrefix + binding + "." + key + "." + kind
}

func waitingKey(subject string) (binding, key string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(subject, stream.WaitingPrefix), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[0], parts[1], sequenceOf(parts[1]) > 0
}

// put stores an event and its state.
func (w *Waiting) put(ctx context.Context, binding, key string, e event, s state) error {
	head, err := value.Marshal(e.origin)
	if err != nil {
		return err
	}
	copied := slices.Concat(head, []byte("\n"), e.data)
	if _, err := w.writer.Write(ctx, waitingSubject(binding, key, waitingEvent), nil, copied); err != nil {
		return err
	}
	return w.set(ctx, binding, key, s)
}

// set stores the state of an event.
func (w *Waiting) set(ctx context.Context, binding, key string, s state) error {
	data, err := value.Marshal(s)
	if err != nil {
		return err
	}
	w.expect(binding)
	_, err = w.writer.Write(ctx, waitingSubject(binding, key, waitingState), nil, data)
	return err
}

// find returns the newest state of an event, nil if it does not wait.
func (w *Waiting) find(ctx context.Context, binding, key string) (*state, error) {
	if !w.may(binding) {
		return nil, nil
	}
	msg, err := w.last(ctx, waitingSubject(binding, key, waitingState))
	if msg == nil || err != nil {
		return nil, err
	}
	s := new(state)
	if err := json.Unmarshal(msg.Data, s); err != nil {
		return nil, err
	}
	s.sequence, s.Due = msg.Sequence, w.onClock(*s, msg.Time)
	return s, nil
}

// event returns the copy of an event that waits, nil if it is gone.
func (w *Waiting) event(ctx context.Context, binding, key string) (*event, error) {
	msg, err := w.last(ctx, waitingSubject(binding, key, waitingEvent))
	if msg == nil || err != nil {
		return nil, err
	}
	head, data, _ := bytes.Cut(msg.Data, []byte("\n"))
	e := &event{sequence: sequenceOf(key), data: data}
	return e, json.Unmarshal(head, &e.origin)
}

func (w *Waiting) last(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	msg, err := w.stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return msg, nil
}

// drop removes an event that is done. If that fails, the event is removed when it is due.
func (w *Waiting) drop(ctx context.Context, binding, key string) {
	if !w.may(binding) {
		return
	}
	w.forget(binding, key)
	w.remove(ctx, waitingSubject(binding, key, "*"))
}

// dropAll removes all events that wait for a binding.
func (w *Waiting) dropAll(ctx context.Context, binding string) {
	w.mu.Lock()
	delete(w.lines, binding)
	w.mu.Unlock()
	w.remove(ctx, stream.WaitingPrefix+binding+".>")
}

// stored returns the bindings that any node has stored an event or a state for.
func (w *Waiting) stored(ctx context.Context) (bindings map[string]bool, err error) {
	if w.stream.CachedInfo().State.Msgs == 0 {
		return nil, nil
	}
	info, err := w.stream.Info(ctx, jetstream.WithSubjectFilter(stream.WaitingPrefix+">"))
	if err != nil {
		return nil, err
	}
	bindings = make(map[string]bool)
	for subject := range info.State.Subjects {
		if binding, _, ok := waitingKey(subject); ok {
			bindings[binding] = true
		}
	}
	return bindings, nil
}

func (w *Waiting) remove(ctx context.Context, subject string) {
	if err := w.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil && ctx.Err() == nil {
		w.host.Log.Warn("What no longer waits could not be removed.", "error", err)
	}
	w.dirty.Store(true)
}
