package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// boxPrefix stands before the name of a box, which is random, in the name of its
// stream.
const boxPrefix = "SPOOL_"

// A box is a stream of calls that wait. Its name is used once: the places of a box
// never mean other calls than those they were given to.
type box struct {
	name   string
	number uint64 // stands for the name in correlation ids
	host   *stream.Host
	stream jetstream.Stream
	writer stream.Writer
	stop   context.CancelFunc // ends the writer

	bytes atomic.Int64
	done  atomic.Uint64 // all up to this place are handed over
}

// newBox makes a box of a name, on stable storage.
func newBox(ctx, running context.Context, h *stream.Host, name string) (*box, error) {
	made, err := h.OpenStream(ctx, h.JS, boxConfig(h, boxPrefix+name))
	if err != nil {
		return nil, err
	}
	if err := h.SyncStore(); err != nil {
		return nil, err
	}
	return openBox(running, h, made)
}

func boxConfig(h *stream.Host, name string) jetstream.StreamConfig {
	return h.Config(jetstream.StreamConfig{Name: name, Subjects: []string{strings.ToLower(name) + ".>"}, AllowDirect: true})
}

// openBox opens a box that is there, until running ends.
func openBox(running context.Context, h *stream.Host, from jetstream.Stream) (*box, error) {
	info := from.CachedInfo()
	b := &box{name: strings.TrimPrefix(info.Config.Name, boxPrefix), host: h, stream: from}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(b.name)) // never fails
	b.number = hash.Sum64() >> (64 - correlation.SpoolBits)
	b.bytes.Store(int64(info.State.Bytes))
	running, b.stop = context.WithCancel(running)
	var err error
	b.writer, err = h.StartWriter(running, from, stream.WriterOptions{})
	return b, err
}

// waiting returns how many calls wait.
func (b *box) waiting() int64 {
	return int64(b.writer.Durable() - min(b.done.Load(), b.writer.Durable()))
}

// oldest returns when the oldest call that waits came; zero if none does.
func (b *box) oldest(ctx context.Context) time.Time {
	if b.waiting() == 0 {
		return time.Time{}
	}
	msg, err := b.stream.GetMsg(ctx, b.done.Load()+1, jetstream.WithGetMsgSubject(">"))
	if err != nil {
		return time.Time{}
	}
	return msg.Time
}

// A Call is what waits in a spool.
type Call struct {
	Subject string // among events

	// ID is that of the batch in which the call may be stored already, and
	// nobody knows: "" if that can't be. Place is its place there.
	ID    string
	Place uint64

	// Window is how long a repetition of its delivery counts.
	Window time.Duration

	Event []byte // its JSON

	place uint64
}

// header is what a box has before the JSON of an event.
type header struct {
	ID     string        `json:"id,omitempty"`
	Place  uint64        `json:"place,omitempty"`
	Window time.Duration `json:"window,omitempty"`
}

// overhead is what the engine stores with each message, and about how long a header
// is.
const overhead = 256

// put stores a call on stable storage, and gives its place.
func (b *box) put(ctx context.Context, c *Call) (place uint64, err error) {
	head, err := json.Marshal(header{c.ID, c.Place, c.Window})
	if err != nil {
		return 0, err
	}
	data := slices.Concat(head, []byte{'\n'}, c.Event)
	b.bytes.Add(int64(len(data)) + overhead)
	return b.writer.Write(ctx, strings.ToLower(boxPrefix+b.name)+"."+c.Subject, nil, data)
}

// parse reads a call as it is stored.
func (b *box) parse(sequence uint64, subject string, data []byte) (*Call, error) {
	head, event, ok := bytes.Cut(data, []byte{'\n'})
	var h header
	if err := json.Unmarshal(head, &h); err != nil || !ok {
		return nil, errors.Join(err, errors.New("a spooled call can't be read"))
	}
	return &Call{Subject: strings.TrimPrefix(subject, strings.ToLower(boxPrefix+b.name)+"."), ID: h.ID, Place: h.Place, Window: h.Window, Event: event, place: sequence}, nil
}

// read returns calls from a place on, in order: as many as are handed over together.
func (b *box) read(ctx context.Context, from uint64) (calls []*Call, err error) {
	last := min(b.writer.Durable(), from/blockSize*blockSize+blockSize-1)
	messages, err := b.host.Fetch(ctx, boxPrefix+b.name, stream.Range{Sequence: from, Count: blockSize})
	if err != nil {
		return nil, err
	}
	for _, msg := range messages {
		if msg.Sequence > last {
			break
		}
		c, err := b.parse(msg.Sequence, msg.Subject, msg.Data)
		if err != nil {
			c = &Call{place: msg.Sequence} // to be told of when it is handed over
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// skip goes on behind the places of a block where there is nothing.
func (b *box) skip() {
	done := b.done.Load()
	next := min(b.writer.Durable(), (done+1)/blockSize*blockSize+blockSize-1)
	b.host.Log.Error("The disk has lost calls that waited in the spool.", "calls", next-done)
	b.done.Store(next)
}

// envelope returns what is known of a call that waits, nil if there is none at that
// place.
func (b *box) envelope(ctx context.Context, place uint64) (*correlation.Envelope, error) {
	msg, err := b.stream.GetMsg(ctx, place)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	c, err := b.parse(place, msg.Subject, msg.Data)
	if err != nil {
		return nil, sluice.Errorf(sluice.CodeEventDamaged, "The disk has lost this event.").Because(err)
	}
	e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Subject: c.Subject, Data: c.Event, Time: msg.Time})
	return &e, err
}
