package queue

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

const (
	// WaitingStream is the stream that holds what waits.
	WaitingStream = stream.Waiting
	waitingPrefix = "svc.waiting." // before the binding, the event's key, and one of the next
	waitingEvent  = "event"
	waitingState  = "state"

	// maxWaiting bounds the events of one pipeline that wait here. Further ones
	// wait with the place they have, and so keep more from coming.
	maxWaiting = 100_000
	// waitingSync is how often removals are synced.
	waitingSync = time.Second
	// lease is how long an event is one node's that runs it; it is renewed in
	// time.
	lease = 30 * time.Second
)

// Waiting keeps the events that wait for their next attempt, and replays that
// let live events go first: a copy of the event, and a state for each attempt, on
// stable storage. An event that is here is acknowledged. So it takes no place of
// its pipeline, holds up no floor, and may be trimmed from the stream of events.
//
// Each node has an index of what waits, in memory, which follows the stream.
type Waiting struct {
	host   *stream.Host
	node   string // this one
	ids    correlation.IDs
	stream jetstream.Stream
	writer stream.Writer
	dirty  atomic.Bool // something was removed since the last sync
	now    func() time.Time

	mu     sync.Mutex
	lanes  map[string]*lane // by binding
	behind uint64           // states that were stored before the start and are not in the index yet
}

// A state is how far an event has come with a pipeline.
type state struct {
	Attempts int       `json:"attempts"`       // that have failed
	Count    int       `json:"count"`          // of deliveries
	First    time.Time `json:"first,omitzero"` // when the first attempt began
	Due      time.Time `json:"due"`            // of the next attempt
	Held     bool      `json:"held,omitempty"` // the event is not here: it waits with its place
	Node     string    `json:"node,omitempty"` // that runs it until then, unless it says more
	sequence uint64    // of the state itself
}

// NewWaiting returns waiting events that are yet to be set up.
func NewWaiting(h *stream.Host) *Waiting {
	return &Waiting{host: h, node: rand.Text(), now: time.Now, lanes: make(map[string]*lane)}
}

// SetUp creates the stream where it is missing, and begins to follow it.
func (w *Waiting) SetUp(ctx, running context.Context, ids correlation.IDs) (err error) {
	w.ids = ids
	w.stream, err = w.host.OpenStream(ctx, w.host.JS, w.host.Config(jetstream.StreamConfig{
		Name:        WaitingStream,
		Subjects:    []string{waitingPrefix + ">"},
		AllowDirect: w.host.DirectReads,
	}))
	if err != nil {
		return err
	}
	if w.writer, err = w.host.StartWriter(running, w.stream, stream.WriterOptions{Rewritten: true}); err != nil {
		return err
	}
	states, err := stream.Follow(ctx, w.stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{waitingPrefix + "*.*." + waitingState}})
	if err != nil {
		return err
	}
	w.behind = states.Pending
	w.host.Start(func() { w.follow(running, states) })
	w.syncRemovals(running)
	return nil
}

// syncRemovals syncs from time to time what the engine rewrites to remove
// events. One that comes back after a power cut has an outcome, and goes again.
func (w *Waiting) syncRemovals(running context.Context) {
	blocks := w.host.Blocks(WaitingStream)
	if blocks == nil {
		return
	}
	blocks.Rewritten = true
	w.host.Every(running, waitingSync, func(time.Time) {
		if w.dirty.Swap(false) {
			if err := blocks.Sync(); err != nil {
				w.host.Fail(fmt.Errorf("sync of waiting events: %w", err))
			}
		}
	})
}

// follow learns of the states that are stored, here or by other nodes.
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
		s.sequence = meta.Sequence.Stream
		w.note(binding, key, s, meta.NumPending)
	}
}

// key returns what tells an event from others. The sequence is not enough: after a
// power cut that of a lost event is used again.
func (w *Waiting) key(sequence uint64, traceID string) string {
	return strconv.FormatUint(w.ids.Nonce(traceID), 36) + "-" + strconv.FormatUint(sequence, 36)
}

// sequenceOf returns the sequence of the event with a key, 0 if it is none.
func sequenceOf(key string) uint64 {
	_, text, _ := strings.Cut(key, "-")
	sequence, _ := strconv.ParseUint(text, 36, 64)
	return sequence
}

func waitingSubject(binding, key, kind string) string {
	return waitingPrefix + binding + "." + key + "." + kind
}

func waitingKey(subject string) (binding, key string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(subject, waitingPrefix), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[0], parts[1], sequenceOf(parts[1]) > 0
}

// A stored event is one as it lies in the stream of events.
type storedEvent struct {
	sequence uint64
	count    int // of deliveries
	data     []byte
	origin
}

// An origin says where an event comes from.
type origin struct {
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`            // when it was stored
	Waits   string    `json:"waits,omitempty"` // the node whose caller waits
}

// put stores an event and its state. Then it waits here.
func (w *Waiting) put(ctx context.Context, binding, key string, e storedEvent, s state) error {
	head, err := json.Marshal(e.origin)
	if err != nil {
		return err
	}
	copied := append(append(make([]byte, 0, len(head)+1+len(e.data)), head...), '\n')
	copied = append(copied, e.data...)
	if _, err := w.writer.Write(ctx, waitingSubject(binding, key, waitingEvent), nil, copied); err != nil {
		return err
	}
	return w.set(ctx, binding, key, s)
}

// set stores the state of an event.
func (w *Waiting) set(ctx context.Context, binding, key string, s state) error {
	data, err := json.Marshal(s)
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
	s.sequence = msg.Sequence
	return s, nil
}

// event returns the copy of an event that waits, nil if it is gone.
func (w *Waiting) event(ctx context.Context, binding, key string) (*storedEvent, error) {
	msg, err := w.last(ctx, waitingSubject(binding, key, waitingEvent))
	if msg == nil || err != nil {
		return nil, err
	}
	head, data, _ := bytes.Cut(msg.Data, []byte("\n"))
	e := &storedEvent{sequence: sequenceOf(key), data: data}
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

// claim makes an event this node's for a while, if its state is the newest one.
// Within one process nobody else can have it.
func (w *Waiting) claim(ctx context.Context, binding, key string, s *state) (ok bool, err error) {
	if w.host.SoleWriter {
		return true, nil
	}
	claimed := *s
	claimed.Due, claimed.Node = w.now().Add(lease).UTC(), w.node
	data, err := json.Marshal(claimed)
	if err != nil {
		return false, err
	}
	msg := &nats.Msg{Subject: waitingSubject(binding, key, waitingState), Data: data}
	ack, err := w.host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(s.sequence))
	if err != nil {
		if err = stream.NotTaken("the claim", err); stream.WasConflict(err) {
			return false, nil
		}
		return false, err
	}
	s.sequence = ack.Sequence
	return true, nil
}

// drop removes an event: it is done. If that fails, it is found to be done when
// it is due.
func (w *Waiting) drop(ctx context.Context, binding, key string) {
	if !w.may(binding) {
		return
	}
	w.forget(binding, key)
	w.remove(ctx, waitingSubject(binding, key, "*"))
}

// dropAll removes all that waits for a binding.
func (w *Waiting) dropAll(ctx context.Context, binding string) {
	w.mu.Lock()
	delete(w.lanes, binding)
	w.mu.Unlock()
	w.remove(ctx, waitingPrefix+binding+".>")
}

// stored returns the bindings that something is stored for, of whichever node.
func (w *Waiting) stored(ctx context.Context) (bindings map[string]bool, err error) {
	if w.stream.CachedInfo().State.Msgs == 0 {
		return nil, nil
	}
	info, err := w.stream.Info(ctx, jetstream.WithSubjectFilter(waitingPrefix+">"))
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
