// Package quarantine keeps rejected calls for some time: store.go has their stream,
// known.go what is known of them in memory, their order, and which of them are
// removed for others.
//
// The packages webhook and quarantine decide which calls are kept, and what users
// can do with them.
package quarantine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
	"sluice/value"
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
		Name:              stream.Quarantine,
		Subjects:          []string{stream.QuarantinePrefix + ">"},
		MaxAge:            stream.QuarantineAge,
		MaxBytes:          stream.QuarantineBytes + stream.QuarantineBytes/4, // dropped calls still take some space for a while
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

// catchUp learns of what was stored before.
func (s *Store) catchUp(ctx context.Context, calls *stream.Follower) error {
	for pending := calls.Pending; pending > 0; {
		msg, meta, err := calls.Next(ctx)
		if err != nil {
			return err
		}
		s.note(msg)
		pending = meta.NumPending
	}
	return nil
}

// follow learns of what is stored, here or by other nodes.
func (s *Store) follow(running context.Context, calls *stream.Follower) {
	for {
		msg, _, err := calls.Next(running)
		if err != nil {
			return // the engine stops
		}
		s.note(msg)
	}
}

func (s *Store) note(msg jetstream.Msg) {
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

// subjectOfCall returns where a call is stored. The token is secret, its hash is not.
func subjectOfCall(c *sluice.QuarantinedCall) string {
	hash := sha256.Sum256([]byte(c.Token))
	return stream.QuarantinePrefix + hex.EncodeToString(hash[:8]) + "." + strings.ReplaceAll(c.ID, ":", "=")
}

func idOf(subject string) string {
	return strings.ReplaceAll(subject[strings.LastIndexByte(subject, '.')+1:], "=", ":")
}

// Put implements sluice.QuarantineStore.
func (s *Store) Put(ctx context.Context, c *sluice.QuarantinedCall) error {
	if err := s.host.Ready(); err != nil {
		return err
	}
	request, err := value.Marshal(sealedCall{c.Token, c.Request})
	if err != nil {
		return err
	}
	sealed := s.box.Seal(c.ID, request)
	meta, err := value.Marshal(c)
	if err != nil {
		return err
	}
	kept := &keptCall{QuarantinedCall: *c, subject: subjectOfCall(c), size: len(meta) + len(sealed)}
	if err := stream.Fits("The call", kept.size); err != nil {
		return err
	}
	kept.Token, kept.Request = "", sluice.KeptRequest{}
	if err := s.publish(ctx, &nats.Msg{Subject: kept.subject, Data: sealed, Header: nats.Header{metaHeader: {string(meta)}}}); err != nil {
		return err
	}
	s.known.add(kept)
	for {
		surplus := s.known.surplus(shareOf(kept.subject))
		if surplus == nil {
			return nil
		}
		if err := s.erase(ctx, surplus); err != nil {
			return err
		}
		s.pushed.Add(1)
	}
}

func (s *Store) publish(ctx context.Context, msg *nats.Msg) error {
	if _, err := s.host.SideJS.PublishMsg(ctx, msg, jetstream.WithMsgID(rand.Text())); err != nil {
		return stream.NotTaken("the call", err)
	}
	s.dirty.Store(true)
	return nil
}

// erase replaces a call by the note that it is gone.
func (s *Store) erase(ctx context.Context, c *keptCall) error {
	if err := s.publish(ctx, &nats.Msg{Subject: c.subject}); err != nil {
		return err
	}
	s.known.remove(c.ID)
	return nil
}

// List implements sluice.QuarantineStore.
func (s *Store) List(_ context.Context, query sluice.QuarantineQuery) (calls []sluice.QuarantinedCall, next string, err error) {
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

// sealedCall is what is sealed of a call.
type sealedCall struct {
	Token   string             `json:"token"`
	Request sluice.KeptRequest `json:"request"`
}

// Open implements sluice.QuarantineStore.
func (s *Store) Open(ctx context.Context, c *sluice.QuarantinedCall) (bool, error) {
	if err := s.host.Connected(); err != nil {
		return false, err
	}
	known := s.known.find(c.ID)
	if known == nil {
		return false, nil
	}
	msg, err := s.stream.GetLastMsgForSubject(ctx, known.subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && len(msg.Data) == 0 {
		s.known.remove(c.ID) // another node has dropped it, or it has expired
		return false, nil
	}
	if err != nil {
		return false, stream.NoAnswer(err)
	}
	text, err := s.box.Open(c.ID, msg.Data)
	if err != nil {
		return false, fmt.Errorf("call %s in the quarantine: %w", c.ID, err)
	}
	var opened sealedCall
	if err := json.Unmarshal(text, &opened); err != nil {
		return false, err
	}
	c.Token, c.Request = opened.Token, opened.Request
	return true, nil
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
