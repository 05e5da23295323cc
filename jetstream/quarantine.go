package jetstream

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
)

const (
	quarantineStream = "QUARANTINE"
	quarantineKey    = "quarantine" // name of the key that requests are sealed with
	quarantinePrefix = "svc.quarantine."
	quarantineMeta   = "Sluice-Call" // header with what is known of a call, but for its request
	quarantineAge    = 7 * 24 * time.Hour
	quarantineBytes  = 256 << 20
	quarantineSync   = time.Second
)

// Quarantine implements sluice.QuarantineStore on a stream of its own. Each call
// has a subject of its own: an empty message there says that it is gone. What is
// known of calls is in memory, too; only their requests are read when they are
// asked for.
type Quarantine struct {
	host   *stream.Host
	stream jetstream.Stream
	box    *seal.Box
	known  *quarantined
	dirty  atomic.Bool // something is not synced
}

func newQuarantine(h *stream.Host) *Quarantine {
	return &Quarantine{host: h, known: newQuarantined()}
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
			if q.dirty.Swap(false) {
				if err := blocks.Sync(); err != nil {
					q.host.Fail(fmt.Errorf("sync of the quarantine: %w", err))
				}
			}
		})
	}
	return nil
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
		q.known.remove(idOf(msg.Subject()))
		return
	}
	c := &keptCall{subject: msg.Subject()}
	if err := json.Unmarshal([]byte(meta), &c.QuarantinedCall); err != nil {
		q.host.Log.Error("A call in the quarantine can't be read; it is left out.", "error", err)
		return
	}
	size, _ := strconv.Atoi(msg.Headers().Get("Nats-Msg-Size")) // the engine's own
	c.size = len(meta) + size
	q.known.add(c)
}

// subjectOfCall returns where a call is stored. The token is secret, its hash is not.
func subjectOfCall(c *sluice.QuarantinedCall) string {
	hash := sha256.Sum256([]byte(c.Token))
	return quarantinePrefix + hex.EncodeToString(hash[:8]) + "." + strings.ReplaceAll(c.ID, ":", "=")
}

func idOf(subject string) string {
	return strings.ReplaceAll(subject[strings.LastIndexByte(subject, '.')+1:], "=", ":")
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
	q.known.add(kept)
	for {
		surplus := q.known.surplus(shareOf(kept.subject))
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
	q.dirty.Store(true)
	return nil
}

// erase stores that a call is gone, in place of the call.
func (q *Quarantine) erase(ctx context.Context, c *keptCall) error {
	if err := q.publish(ctx, &nats.Msg{Subject: c.subject}); err != nil {
		return err
	}
	q.known.remove(c.ID)
	return nil
}

// List implements sluice.QuarantineStore.
func (q *Quarantine) List(_ context.Context, query sluice.QuarantineQuery) (calls []sluice.QuarantinedCall, more bool, err error) {
	if err := q.host.Connected(); err != nil {
		return nil, false, err
	}
	calls, more = q.known.list(query)
	return calls, more, nil
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
	known := q.known.find(c.ID)
	if known == nil {
		return false, nil
	}
	msg, err := q.stream.GetLastMsgForSubject(ctx, known.subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && len(msg.Data) == 0 {
		q.known.remove(c.ID) // another node has dropped it, or its time is over
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
	c := q.known.find(id)
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
	return q.known.held()
}
