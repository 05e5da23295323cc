package spool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/value"
)

// blockSize is how many places of a store share the subject of their markers.
const blockSize = 256

// A marker says where the handed-over calls of a store are. It is stored together with
// their events, right before them.
type marker struct {
	First  uint64           `json:"first"`            // place of the first call
	Events []uint64         `json:"events"`           // for each place: how far behind the marker its event is; 0: in Others, or lost
	Others map[uint64]Found `json:"others,omitempty"` // by place: calls whose event existed already

	sequence uint64 // of the marker
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

func markerSubject(number, place uint64, store string) string {
	return stream.SpooledPrefix + strconv.FormatUint(number, 36) + "." + strconv.FormatUint(place/blockSize, 36) + "." +
		store
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
	msg, err := stream.Found(events.GetLastMsgForSubject(ctx, subjects))
	if msg == nil || err != nil {
		return nil, err
	}
	return readMarker(msg)
}

// A Found event may be the one that a spooled call's id leads to. In a marker it is the event of
// a call that made none of its own.
type Found struct {
	Sequence uint64 `json:"sequence"`
	TraceID  string `json:"traceId"` // of the call; "": that of the event
}

// Find returns the events that the id of a spooled call may lead to: several if their
// spools have the same number. It also reports whether the call may still wait in the
// spool of another node.
func Find(
	ctx context.Context, events jetstream.Stream, r correlation.Reference,
) (found []Found, waits bool, err error) {
	number, place := r.Spooled()
	subjects := markerSubject(number, place, "*")
	for next := uint64(1); ; {
		msg, err := stream.First(ctx, events, next, subjects)
		if err != nil {
			return nil, false, err
		}
		if msg == nil {
			break
		}
		next = msg.Sequence + 1
		m, err := readMarker(msg)
		if err != nil || place < m.First || place > m.last() {
			continue // not one of ours, or of other places
		}
		if behind := m.Events[place-m.First]; behind > 0 {
			found = append(found, Found{Sequence: m.sequence + behind})
		} else if o, ok := m.Others[place]; ok {
			found = append(found, o)
		}
	}
	if len(found) > 0 {
		return found, false, nil
	}
	newest, err := newestMarker(ctx, events, stream.SpooledPrefix+strconv.FormatUint(number, 36)+".>")
	return nil, err == nil && (newest == nil || newest.last() < place), err
}
