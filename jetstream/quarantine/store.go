// Package quarantine keeps rejected calls for some time: store.go has their stream,
// known.go what is known of them in memory, their order, and which of them are
// removed for others.
//
// The packages webhook and quarantine decide which calls are kept, and what users
// can do with them.
package quarantine

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
)

// Key is the name of the key that requests are sealed with.
const Key = "quarantine"

// metaHeader has what is known of a call, without its request.
const metaHeader = "Sluice-Call"

// Store implements sluice.QuarantineStore on a stream of its own. Each call has its
// own subject: an empty message there says that the call is gone. What is known of
// calls is in memory as well; their requests are read only on demand.
type Store struct {
	host   *stream.Host
	stream jetstream.Stream
	box    *seal.Box
	known  *known
	stored func()       // has what was stored synced
	pushed atomic.Int64 // calls that newer ones replaced
}

// New returns a store. SetUp comes next.
func New(h *stream.Host) *Store {
	return &Store{host: h, known: &known{calls: make(map[string]*keptCall), shares: make(map[string]*share)}}
}

// SetUp creates the stream where it is missing, and follows it until running ends.
func (s *Store) SetUp(ctx, running context.Context, key []byte) (err error) {
	if s.box, err = seal.New(key); err != nil {
		return err
	}
	s.stream, err = s.host.OpenStream(ctx, s.host.SideJS, jetstream.StreamConfig{
		Name:     stream.Quarantine,
		Subjects: []string{stream.QuarantinePrefix + ">"},
		MaxAge:   stream.QuarantineAge,
		// dropped calls still take some space for a while
		MaxBytes:          stream.QuarantineBytes + stream.QuarantineBytes/4,
		MaxMsgsPerSubject: 1,
		AllowDirect:       s.host.DirectReads,
	})
	if err != nil {
		return err
	}
	calls, err := s.host.Follow(ctx, s.stream, jetstream.OrderedConsumerConfig{HeadersOnly: true})
	if err != nil {
		return err
	}
	if err := calls.Stored(ctx, s.note); err != nil {
		calls.Stop()
		return err
	}
	s.host.Start(func() { calls.Visit(running, s.note) })
	s.stored = s.host.SyncLater(running, s.host.Blocks(stream.Quarantine, true), "the quarantine")
	return nil
}

// List implements sluice.QuarantineStore.
func (s *Store) List(
	_ context.Context, query sluice.QuarantineQuery,
) (calls []sluice.QuarantinedCall, next string, err error) {
	if err := s.host.Connected(); err != nil {
		return nil, "", err
	}
	if query.After != "" {
		if err := checkPlace(query.After); err != nil {
			return nil, "", err
		}
	}
	calls, next = s.known.list(query)
	return calls, next, nil
}

// Drop implements sluice.QuarantineStore.
func (s *Store) Drop(ctx context.Context, id string) (bool, error) {
	if err := s.host.Ready(); err != nil {
		return false, err
	}
	c := s.known.find(id)
	if c == nil {
		return false, nil
	}
	if err := stream.RemoveAll(ctx, s.stream, c.subject, true); err != nil {
		return false, err
	}
	if err := s.erase(ctx, c); err != nil {
		return false, err
	}
	return true, s.host.SyncStream(stream.Quarantine, "msgs")
}

// PushedOut returns how many calls this node has removed for newer ones, since the
// start.
func (s *Store) PushedOut() int64 { return s.pushed.Load() }

// note learns of what is stored, here or by other nodes.
func (s *Store) note(msg jetstream.Msg, _ *jetstream.MsgMetadata) {
	meta := msg.Headers().Get(metaHeader)
	if meta == "" {
		s.known.remove(idOf(msg.Subject()))
		return
	}
	c := &keptCall{subject: msg.Subject()}
	if err := json.Unmarshal([]byte(meta), &c.QuarantinedCall); err != nil {
		s.host.Log.Error("A call in the quarantine can't be read; it is left out.", "error", err)
		return
	}
	size, _ := strconv.Atoi(msg.Headers().Get("Nats-Msg-Size")) // the engine's own
	c.size = len(meta) + size
	s.known.add(c)
}
