package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
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
	stream jetstream.Stream
	writer stream.Writer
	stop   context.CancelFunc // ends the writer

	bytes atomic.Int64
	done  atomic.Uint64 // calls up to this place are handed over
}

// newStore makes a store on stable storage.
func newStore(ctx, running context.Context, h *stream.Host, name string) (*store, error) {
	name = stream.SpoolPrefix + name
	config := h.Config(jetstream.StreamConfig{Name: name, Subjects: []string{strings.ToLower(name) + ".>"}, AllowDirect: true})
	made, err := h.OpenStream(ctx, h.JS, config)
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
	s := &store{name: strings.TrimPrefix(info.Config.Name, stream.SpoolPrefix), host: h, stream: from}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(s.name)) // never fails
	s.number = hash.Sum64() >> (64 - correlation.SpoolBits)
	s.bytes.Store(int64(info.State.Bytes))
	running, s.stop = context.WithCancel(running)
	var err error
	s.writer, err = h.StartWriter(running, from, stream.WriterOptions{})
	return s, err
}

// waiting returns how many calls wait.
func (s *store) waiting() int64 {
	return int64(s.writer.Durable() - min(s.done.Load(), s.writer.Durable()))
}

// oldest returns when the oldest waiting call came, zero if none waits.
func (s *store) oldest(ctx context.Context) time.Time {
	if s.waiting() == 0 {
		return time.Time{}
	}
	msg, err := s.stream.GetMsg(ctx, s.done.Load()+1, jetstream.WithGetMsgSubject(">"))
	if err != nil {
		return time.Time{}
	}
	return msg.Time
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

// put puts a call on stable storage and returns its place.
func (s *store) put(ctx context.Context, c *Call) (place uint64, err error) {
	head, err := value.Marshal(c)
	if err != nil {
		return 0, err
	}
	data := slices.Concat(head, []byte{'\n'}, c.Event)
	s.bytes.Add(int64(len(data)) + overhead)
	return s.writer.Write(ctx, s.prefix()+c.Subject, nil, data)
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
	last := min(s.writer.Durable(), from/blockSize*blockSize+blockSize-1)
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
	next := min(s.writer.Durable(), (done+1)/blockSize*blockSize+blockSize-1)
	s.host.Log.Error("The disk has lost calls that waited in the spool.", "calls", next-done)
	s.done.Store(next)
}

// envelope returns what is known of the call at a place, nil if there is none.
func (s *store) envelope(ctx context.Context, place uint64) (*correlation.Envelope, error) {
	msg, err := s.stream.GetMsg(ctx, place)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	c, err := s.parse(place, msg.Subject, msg.Data)
	if err != nil {
		return nil, sluice.Errorf(sluice.CodeEventDamaged, "The disk has lost this event.").Because(err)
	}
	e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Subject: c.Subject, Data: c.Event, Time: msg.Time})
	return &e, err
}

// blockSize is how many places of a store share the subject of their markers.
const blockSize = 256

// A marker says where the handed-over calls of a store are. It is stored together with
// their events, right before them.
type marker struct {
	First  uint64           `json:"first"`            // place of the first call
	Events []uint64         `json:"events"`           // for each place: how far behind the marker its event is; 0: in Others, or lost
	Others map[uint64]other `json:"others,omitempty"` // by place: calls whose event existed already

	sequence uint64 // of the marker
}

// other is the event of a call that made none of its own.
type other struct {
	Sequence uint64 `json:"sequence"`
	TraceID  string `json:"traceId"` // of the call
}

// last returns the last place that the marker covers.
func (m *marker) last() uint64 { return m.First + uint64(len(m.Events)) - 1 }

// add notes how far behind the marker the event of a place is. Places that were skipped
// are lost.
func (m *marker) add(place, behind uint64) {
	for m.First+uint64(len(m.Events)) < place {
		m.Events = append(m.Events, 0)
	}
	m.Events = append(m.Events, behind)
}

func markerSubject(number, place uint64, store string) string {
	return stream.SpooledPrefix + strconv.FormatUint(number, 36) + "." + strconv.FormatUint(place/blockSize, 36) + "." + store
}

// message makes the message of a marker. The engine stores it only if the marker before
// is still the newest.
func (m *marker) message(st *store, before *marker) (*nats.Msg, error) {
	data, err := value.Marshal(m)
	if err != nil {
		return nil, err
	}
	expected := uint64(0)
	if before != nil && before.First/blockSize == m.First/blockSize {
		expected = before.sequence
	}
	return stream.ExpectLast(&nats.Msg{Subject: markerSubject(st.number, m.First, st.name), Data: data}, expected), nil
}

func readMarker(msg *jetstream.RawStreamMsg) (*marker, error) {
	m := &marker{sequence: msg.Sequence}
	if err := json.Unmarshal(msg.Data, m); err != nil {
		return nil, fmt.Errorf("a marker of a spool can't be read: %w", err)
	}
	return m, nil
}

// newestMarker returns the newest marker whose subject fits, nil if there is none.
func newestMarker(ctx context.Context, events jetstream.Stream, subjects string) (*marker, error) {
	msg, err := events.GetLastMsgForSubject(ctx, subjects)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return readMarker(msg)
}

// A Found event may be the one that a spooled call's id leads to.
type Found struct {
	Sequence uint64
	TraceID  string // of the call; "": that of the event
}

// Find returns the events that the id of a spooled call may lead to: several if their
// spools have the same number. It also reports whether the call may still wait in the
// spool of another node.
func Find(ctx context.Context, events jetstream.Stream, r correlation.SpooledReference) (found []Found, waits bool, err error) {
	subjects := markerSubject(r.Spool, r.Place, "*")
	for next := uint64(1); ; {
		msg, err := events.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subjects))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, false, stream.NoAnswer(err)
		}
		next = msg.Sequence + 1
		m, err := readMarker(msg)
		if err != nil || r.Place < m.First || r.Place > m.last() {
			continue // not one of ours, or of other places
		}
		if behind := m.Events[r.Place-m.First]; behind > 0 {
			found = append(found, Found{Sequence: m.sequence + behind})
		} else if o, ok := m.Others[r.Place]; ok {
			found = append(found, Found(o))
		}
	}
	if len(found) > 0 {
		return found, false, nil
	}
	newest, err := newestMarker(ctx, events, stream.SpooledPrefix+strconv.FormatUint(r.Spool, 36)+".>")
	return nil, err == nil && (newest == nil || newest.last() < r.Place), err
}
