package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
)

const (
	quarantineStream = "QUARANTINE"
	quarantineKey    = "quarantine" // name of the key that requests are sealed with
	quarantinePrefix = "svc.quarantine."
	quarantineMeta   = "Sluice-Call" // header with what is known of a call, but for its request
	quarantineAge    = 7 * 24 * time.Hour
	quarantineBytes  = 256 << 20
	quarantineSync   = time.Second

	// A webhook's share: what is beyond it drives out the webhook's own.
	shareBytes = quarantineBytes / 8
	shareCount = 2000
)

// Quarantine implements sluice.QuarantineStore on a stream of its own. Each call
// has a subject of its own: an empty message there says that it is gone. What is
// known of calls is in memory, too; only their requests are read when they are
// asked for.
type Quarantine struct {
	host   *stream.Host
	stream jetstream.Stream
	box    *seal.Box

	mu     sync.Mutex
	calls  map[string]*keptCall // by id
	shares map[string]*share    // by the part of the subject that stands for the webhook
	bytes  int
	dirty  bool // something is not synced
}

type keptCall struct {
	sluice.QuarantinedCall

	subject string
	size    int
}

// A share is the calls of one webhook, in the order of their times.
type share struct {
	calls []*keptCall
	bytes int
}

func newQuarantine(h *stream.Host) *Quarantine {
	return &Quarantine{host: h, calls: make(map[string]*keptCall), shares: make(map[string]*share)}
}

func (q *Quarantine) setUp(ctx, running context.Context, key []byte) (err error) {
	if q.box, err = seal.New(key); err != nil {
		return err
	}
	q.stream, err = q.host.OpenStream(ctx, q.host.SideJS, q.host.Config(jetstream.StreamConfig{
		Name:              quarantineStream,
		Subjects:          []string{quarantinePrefix + ">"},
		MaxAge:            quarantineAge,
		MaxBytes:          quarantineBytes + quarantineBytes/4, // what was dropped takes some space for a while
		MaxMsgsPerSubject: 1,
		AllowDirect:       q.host.Embedded,
	}))
	if err != nil {
		return err
	}
	follow, err := q.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{HeadersOnly: true})
	if err != nil {
		return err
	}
	messages, err := follow.Messages()
	if err != nil {
		return err
	}
	if err := q.catchUp(ctx, messages); err != nil {
		messages.Stop()
		return err
	}
	q.host.Start(func() {
		<-running.Done()
		messages.Stop()
	})
	q.host.Start(func() { q.follow(messages) })
	if blocks := q.host.Blocks(quarantineStream); blocks != nil {
		blocks.Rewritten = true
		q.host.Every(running, quarantineSync, func(time.Time) {
			if q.wasWritten() {
				if err := blocks.Sync(); err != nil {
					q.host.Fail(fmt.Errorf("sync of the quarantine: %w", err))
				}
			}
		})
	}
	return nil
}

func (q *Quarantine) wasWritten() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.dirty
	q.dirty = false
	return was
}

// catchUp learns of what was stored before.
func (q *Quarantine) catchUp(ctx context.Context, messages jetstream.MessagesContext) error {
	for pending := q.stream.CachedInfo().State.Msgs; pending > 0; {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		q.note(msg)
		pending = meta.NumPending
	}
	return nil
}

// follow learns of what is stored, here or by other nodes.
func (q *Quarantine) follow(messages jetstream.MessagesContext) {
	for {
		msg, err := messages.Next()
		if err != nil {
			return // the engine stops
		}
		q.note(msg)
	}
}

func (q *Quarantine) note(msg jetstream.Msg) {
	meta := msg.Headers().Get(quarantineMeta)
	if meta == "" {
		q.forget(idOf(msg.Subject()))
		return
	}
	c := &keptCall{subject: msg.Subject()}
	if err := json.Unmarshal([]byte(meta), &c.QuarantinedCall); err != nil {
		q.host.Log.Error("A call in the quarantine can't be read; it is left out.", "error", err)
		return
	}
	size, _ := strconv.Atoi(msg.Headers().Get("Nats-Msg-Size")) // the engine's own
	c.size = len(meta) + size
	q.learn(c)
}

// subjectOfCall returns where a call is stored. The token is secret, its hash is not.
func subjectOfCall(c *sluice.QuarantinedCall) string {
	hash := sha256.Sum256([]byte(c.Token))
	return quarantinePrefix + hex.EncodeToString(hash[:8]) + "." + strings.ReplaceAll(c.ID, ":", "=")
}

func idOf(subject string) string {
	return strings.ReplaceAll(subject[strings.LastIndexByte(subject, '.')+1:], "=", ":")
}

func shareOf(subject string) string {
	return subject[:strings.LastIndexByte(subject, '.')]
}

// learn adds a call to those that are known.
func (q *Quarantine) learn(c *keptCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls[c.ID] != nil {
		return
	}
	q.calls[c.ID] = c
	s := q.shares[shareOf(c.subject)]
	if s == nil {
		s = new(share)
		q.shares[shareOf(c.subject)] = s
	}
	place, _ := slices.BinarySearchFunc(s.calls, c, func(a, b *keptCall) int { return a.Time.Compare(b.Time) })
	s.calls = slices.Insert(s.calls, place, c)
	s.bytes += c.size
	q.bytes += c.size
}

// forget removes a call from those that are known.
func (q *Quarantine) forget(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.calls[id]
	if c == nil {
		return
	}
	delete(q.calls, id)
	s := q.shares[shareOf(c.subject)]
	s.calls = slices.DeleteFunc(s.calls, func(other *keptCall) bool { return other == c })
	s.bytes -= c.size
	q.bytes -= c.size
	if len(s.calls) == 0 {
		delete(q.shares, shareOf(c.subject))
	}
}

// Put implements sluice.QuarantineStore.
func (q *Quarantine) Put(ctx context.Context, c *sluice.QuarantinedCall) error {
	if err := q.host.Ready(); err != nil {
		return err
	}
	request, err := json.Marshal(sealedCall{c.Token, c.Request})
	if err != nil {
		return err
	}
	sealed := q.box.Seal(c.ID, request)
	meta, err := json.Marshal(c)
	if err != nil {
		return err
	}
	kept := &keptCall{QuarantinedCall: *c, subject: subjectOfCall(c), size: len(meta) + len(sealed)}
	kept.Token, kept.Request = "", sluice.KeptRequest{}
	if err := q.publish(ctx, &nats.Msg{Subject: kept.subject, Data: sealed, Header: nats.Header{quarantineMeta: {string(meta)}}}); err != nil {
		return err
	}
	q.learn(kept)
	for {
		surplus := q.surplus(shareOf(kept.subject))
		if surplus == nil {
			return nil
		}
		if err := q.erase(ctx, surplus); err != nil {
			return err
		}
	}
}

func (q *Quarantine) publish(ctx context.Context, msg *nats.Msg) error {
	if _, err := q.host.SideJS.PublishMsg(ctx, msg, jetstream.WithMsgID(rand.Text())); err != nil {
		return stream.NotTaken("the call", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dirty = true
	return nil
}

// surplus returns the call that has to make way, nil if none has: the oldest of a
// webhook that has more than its share, or of the one that has most.
func (q *Quarantine) surplus(newest string) *keptCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.shares[newest]; s != nil && len(s.calls) > 1 && (s.bytes > shareBytes || len(s.calls) > shareCount) {
		return s.calls[0]
	}
	if q.bytes <= quarantineBytes {
		return nil
	}
	var largest *share
	for _, s := range q.shares {
		if largest == nil || s.bytes > largest.bytes {
			largest = s
		}
	}
	return largest.calls[0]
}

// erase stores that a call is gone, in place of the call.
func (q *Quarantine) erase(ctx context.Context, c *keptCall) error {
	if err := q.publish(ctx, &nats.Msg{Subject: c.subject}); err != nil {
		return err
	}
	q.forget(c.ID)
	return nil
}

// List implements sluice.QuarantineStore.
func (q *Quarantine) List(_ context.Context, query sluice.QuarantineQuery) (calls []sluice.QuarantinedCall, more bool, err error) {
	if err := q.host.Connected(); err != nil {
		return nil, false, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := time.Now().Add(-quarantineAge)
	after := q.calls[query.After]
	for _, c := range q.calls {
		switch {
		case c.Time.Before(oldest),
			query.ID != "" && c.ID != query.ID,
			query.EventKey != "" && c.EventKey != query.EventKey,
			query.Code != "" && c.Code != query.Code,
			c.Time.Before(query.From),
			!query.To.IsZero() && c.Time.After(query.To),
			after != nil && newestFirst(c.QuarantinedCall, after.QuarantinedCall) <= 0:
			continue
		}
		calls = append(calls, c.QuarantinedCall)
	}
	slices.SortFunc(calls, newestFirst)
	if query.Limit > 0 && len(calls) > query.Limit {
		return calls[:query.Limit], true, nil
	}
	return calls, false, nil
}

func newestFirst(a, b sluice.QuarantinedCall) int {
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
}

// sealedCall is what is sealed of a call.
type sealedCall struct {
	Token   string             `json:"token"`
	Request sluice.KeptRequest `json:"request"`
}

// Open implements sluice.QuarantineStore.
func (q *Quarantine) Open(ctx context.Context, c *sluice.QuarantinedCall) (bool, error) {
	if err := q.host.Connected(); err != nil {
		return false, err
	}
	q.mu.Lock()
	known := q.calls[c.ID]
	q.mu.Unlock()
	if known == nil {
		return false, nil
	}
	msg, err := q.stream.GetLastMsgForSubject(ctx, known.subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && len(msg.Data) == 0 {
		q.forget(c.ID) // another node has dropped it, or its time is over
		return false, nil
	}
	if err != nil {
		return false, stream.NoAnswer(err)
	}
	text, err := q.box.Open(c.ID, msg.Data)
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
func (q *Quarantine) Drop(ctx context.Context, id string) (bool, error) {
	if err := q.host.Ready(); err != nil {
		return false, err
	}
	q.mu.Lock()
	c := q.calls[id]
	q.mu.Unlock()
	if c == nil {
		return false, nil
	}
	if err := q.erase(ctx, c); err != nil {
		return false, err
	}
	return true, q.host.SyncStream(quarantineStream, "msgs")
}

// Held returns how many calls there are, and their bytes.
func (q *Quarantine) Held() (calls, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.calls), q.bytes
}
