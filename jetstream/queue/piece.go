package queue

import "github.com/nats-io/nats.go/jetstream"

// A piece of work is an event that is handed out, and where it stands.
type piece struct {
	jetstream.Msg

	meta *jetstream.MsgMetadata // nil: it can't be read
	size int64                  // that it takes as it is stored

	before past   // what may have been done with events before
	state  *state // how far it has come, if it waits with its place
}

// stored returns the event as it lies in the stream.
func (p piece) stored() storedEvent {
	e := storedEvent{sequence: p.sequence(), data: p.Data(), origin: origin{Subject: p.Subject()}}
	if p.meta != nil {
		e.count, e.Time = int(p.meta.NumDelivered), p.meta.Timestamp
	}
	e.Waits = p.Headers().Get(waitsHeader)
	return e
}

// sequence returns the event's place in the stream.
func (p piece) sequence() uint64 {
	if p.meta == nil {
		return 0
	}
	return p.meta.Sequence.Stream
}
