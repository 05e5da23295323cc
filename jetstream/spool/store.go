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
	"sluice/value"
)

// A store is one stream of waiting calls. Its name is never used again, so a place in it
// always means the same call.
type store struct {
	name   string
	number uint64 // stands for the name in correlation ids
	host   *stream.Host
	stream stream.Written
	stop   context.CancelFunc // ends the writer

	bytes atomic.Int64
	done  atomic.Uint64 // calls up to this place are handed over
}

// newStore makes a store on stable storage.
func newStore(ctx, running context.Context, h *stream.Host, name string) (*store, error) {
	name = stream.SpoolPrefix + name
	made, err := h.OpenStream(ctx, h.JS, jetstream.StreamConfig{
		Name: name, Subjects: []string{strings.ToLower(name) + ".>"}, AllowDirect: true,
	})
	if err != nil {
		return nil, err
	}
	if err := h.SyncStore(); err != nil {
		return nil, err
	}
	return openStore(running, h, made)
}

// openStore opens an existing store, until running ends.
func openStore(running context.Context, h *stream.Host, from jetstream.Stream) (*store, error) {
	info := from.CachedInfo()
	s := &store{name: strings.TrimPrefix(info.Config.Name, stream.SpoolPrefix), host: h}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(s.name)) // never fails
	s.number = hash.Sum64() >> (64 - correlation.SpoolBits)
	s.bytes.Store(int64(info.State.Bytes))
	running, s.stop = context.WithCancel(running)
	var err error
	s.stream, err = h.StartWriter(running, from, stream.WriterOptions{})
	return s, err
}

// waiting returns how many calls wait.
func (s *store) waiting() int64 {
	return int64(s.stream.Durable() - min(s.done.Load(), s.stream.Durable()))
}

// oldest returns when the oldest waiting call came, zero if none waits.
func (s *store) oldest(ctx context.Context) time.Time {
	if s.waiting() == 0 {
		return time.Time{}
	}
	msg, err := stream.First(ctx, s.stream, s.done.Load()+1, ">")
	if msg == nil || err != nil {
		return time.Time{}
	}
	return msg.Time
}

// put puts a call on stable storage and returns its place.
func (s *store) put(ctx context.Context, c *Call) (place uint64, err error) {
	head, err := value.Marshal(c)
	if err != nil {
		return 0, err
	}
	data := slices.Concat(head, []byte{'\n'}, c.Event)
	s.bytes.Add(int64(len(data)) + overhead)
	return s.stream.Write(ctx, s.prefix()+c.Subject, nil, data)
}

// prefix is what the subjects of the store begin with.
func (s *store) prefix() string { return strings.ToLower(stream.SpoolPrefix+s.name) + "." }

// parse reads a stored call.
func (s *store) parse(sequence uint64, subject string, data []byte) (*Call, error) {
	head, event, ok := bytes.Cut(data, []byte{'\n'})
	c := &Call{Subject: strings.TrimPrefix(subject, s.prefix()), Event: event, place: sequence}
	if err := json.Unmarshal(head, c); err != nil || !ok {
		return nil, errors.Join(err, errors.New("a spooled call can't be read"))
	}
	return c, nil
}

// read returns the calls from a place on that are handed over together, in order.
func (s *store) read(ctx context.Context, from uint64) (calls []*Call, err error) {
	last := min(s.stream.Durable(), from/blockSize*blockSize+blockSize-1)
	messages, err := s.host.Fetch(ctx, stream.SpoolPrefix+s.name, stream.Range{Sequence: from, Count: blockSize})
	if err != nil {
		return nil, err
	}
	for _, msg := range messages {
		if msg.Sequence > last {
			break
		}
		c, err := s.parse(msg.Sequence, msg.Subject, msg.Data)
		if err != nil {
			c = &Call{place: msg.Sequence} // compose logs that it is lost
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// skip passes over the rest of a block whose calls are gone.
func (s *store) skip() {
	done := s.done.Load()
	next := min(s.stream.Durable(), (done+1)/blockSize*blockSize+blockSize-1)
	s.host.Log.Error("The disk has lost calls that waited in the spool.", "calls", next-done)
	s.done.Store(next)
}

// envelope returns what is known of the call at a place, nil if there is none.
func (s *store) envelope(ctx context.Context, place uint64) (*correlation.Envelope, error) {
	msg, err := stream.Found(s.stream.GetMsg(ctx, place))
	if msg == nil || err != nil {
		return nil, err
	}
	c, err := s.parse(place, msg.Subject, msg.Data)
	if err != nil {
		return nil, sluice.CodeEventDamaged.Errorf("The disk has lost this event.").Because(err)
	}
	e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Subject: c.Subject, Data: c.Event, Time: msg.Time})
	return &e, err
}

// A Call waits in a spool. Its JSON is the header that a store writes before the event.
type Call struct {
	Subject string `json:"-"` // among events

	// ID names the batch that may already have stored the call, and Place is the
	// call's place in it. ID is empty if no batch can have.
	ID    string `json:"id,omitempty"`
	Place uint64 `json:"place,omitempty"`

	// Window is how long a repetition of the call's delivery counts.
	Window time.Duration `json:"window,omitempty"`

	Event []byte `json:"-"` // its JSON

	place uint64 // in the store
}

// overhead is about what the engine and the header add to each event.
const overhead = 256
