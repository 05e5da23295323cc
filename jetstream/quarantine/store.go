// Package quarantine keeps rejected calls for some time: store.go has their stream,
// known.go what is known of them in memory, their order, and which of them are
// removed for others.
//
// The packages webhook and quarantine decide which calls are kept, and what users
// can do with them.
package quarantine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
)

// Key is the name of the key that requests are sealed with.
const Key = "quarantine"

const (
	metaHeader = "Sluice-Call" // what is known of a call, without its request
	syncEvery  = time.Second
)

// Store implements sluice.QuarantineStore on a stream of its own. Each call has its
// own subject: an empty message there says that the call is gone. What is known of
// calls is in memory as well; their requests are read only on demand.
type Store struct {
	host   *stream.Host
	stream jetstream.Stream
	box    *seal.Box
	known  *known
	dirty  atomic.Bool  // something is not synced
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
	s.stream, err = s.host.OpenStream(ctx, s.host.SideJS, s.host.Config(jetstream.StreamConfig{
		Name:     stream.Quarantine,
		Subjects: []string{stream.QuarantinePrefix + ">"},
		MaxAge:   stream.QuarantineAge,
		// dropped calls still take some space for a while
		MaxBytes:          stream.QuarantineBytes + stream.QuarantineBytes/4,
		MaxMsgsPerSubject: 1,
		AllowDirect:       s.host.DirectReads,
	}))
	if err != nil {
		return err
	}
	calls, err := s.host.Follow(ctx, s.stream, jetstream.OrderedConsumerConfig{HeadersOnly: true})
	if err != nil {
		return err
	}
	if err := s.catchUp(ctx, calls); err != nil {
		calls.Stop()
		return err
	}
	s.host.Start(func() { s.follow(running, calls) })
	if blocks := s.host.Blocks(stream.Quarantine); blocks != nil {
		blocks.Rewritten = true
		s.host.Every(running, syncEvery, func(time.Time) {
			if s.dirty.Swap(false) {
				if err := blocks.Sync(); err != nil {
					s.host.Fail(fmt.Errorf("sync of the quarantine: %w", err))
				}
			}
		})
	}
	return nil
}

// List implements sluice.QuarantineStore.
func (s *Store) List(
	_ context.Context, query sluice.QuarantineQuery,
) (calls []sluice.QuarantinedCall, next string, err error) {
	if err := s.host.Connected(); err != nil {
		return nil, "", err
	}
	after, err := parseCursor(query.After)
	if err != nil {
		return nil, "", err
	}
	calls, last := s.known.list(query, after)
	return calls, last.String(), nil
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
