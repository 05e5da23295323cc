package stream

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/seal"
)

// sealedPrefixes begin the subjects of messages that may be sealed: those with payloads and their
// outcomes. The rest is keys, times and numbers.
var sealedPrefixes = []string{
	EventPrefix, MessagePrefix, DirectPrefix, OutcomePrefix, WaitingPrefix, DeadLetterPrefix, ChunkPrefix,
	LoosePrefix, strings.ToLower(SpoolPrefix),
}

func mayBeSealed(subject string) bool {
	return slices.ContainsFunc(sealedPrefixes, func(prefix string) bool { return strings.HasPrefix(subject, prefix) })
}

// sealing is how a host seals messages.
type sealing struct {
	keys  *seal.Messages
	fresh bool // new messages are sealed, too
}

// UseKeys lets the host open sealed messages, and seal new ones if fresh says so. It comes
// before anything is read or written.
func (h *Host) UseKeys(keys *seal.Messages, fresh bool) { h.sealing.Store(&sealing{keys, fresh}) }

// Seal returns what is stored of a message.
func (h *Host) Seal(subject string, data []byte) []byte {
	if keys := h.keysFor(subject, data); keys != nil {
		return keys.Seal(nil, subject, data)
	}
	return data
}

// sealAll returns what is stored of messages. They stay as they are: whoever stores them may try again.
func (h *Host) sealAll(messages []*nats.Msg) []*nats.Msg {
	sealed := make([]*nats.Msg, len(messages))
	for i, msg := range messages {
		sealed[i] = &nats.Msg{Subject: msg.Subject, Header: msg.Header, Data: h.Seal(msg.Subject, msg.Data)}
	}
	return sealed
}

// keysFor returns what a new message is sealed with, nil if it is not.
func (h *Host) keysFor(subject string, data []byte) *seal.Messages {
	if s := h.sealing.Load(); s != nil && s.fresh && len(data) > 0 && mayBeSealed(subject) {
		return s.keys
	}
	return nil
}

// Open returns a message of which this is stored. If it can't be opened, it stays as it is,
// which nobody can read.
func (h *Host) Open(subject string, data []byte) []byte {
	s := h.sealing.Load()
	if s == nil || !mayBeSealed(subject) {
		return data
	}
	opened, err := s.keys.Open(subject, data)
	if err != nil {
		h.Log.Error("A sealed message can't be opened: it was sealed with another key, or changed since.",
			"subject", subject)
		return data
	}
	return opened
}

// A sealer is a writer that seals messages first.
type sealer struct {
	Writer
	host *Host
}

var sealedSpace = sync.Pool{New: func() any { return new([]byte) }}

// Write implements Writer.
func (s sealer) Write(ctx context.Context, subject string, header nats.Header, data []byte) (uint64, error) {
	keys := s.host.keysFor(subject, data)
	if keys == nil {
		return s.Writer.Write(ctx, subject, header, data)
	}
	space := sealedSpace.Get().(*[]byte)
	sealed := keys.Seal((*space)[:0], subject, data)
	sequence, err := s.Writer.Write(ctx, subject, header, sealed)
	if err != nil {
		return 0, err // the writer may keep what is sealed
	}
	*space = sealed
	sealedSpace.Put(space)
	return sequence, nil
}

// WriteTogether implements Writer.
func (s sealer) WriteTogether(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	for _, msg := range messages {
		if err := Fits("The message", len(msg.Data)); err != nil {
			return 0, err
		}
	}
	return s.Writer.WriteTogether(ctx, s.host.sealAll(messages))
}

// An opener is a stream whose messages are opened when they are read.
type opener struct {
	jetstream.Stream
	host *Host
}

// Stream returns a stream that exists.
func (h *Host) Stream(ctx context.Context, js jetstream.JetStream, name string) (jetstream.Stream, error) {
	found, err := js.Stream(ctx, name)
	return opener{found, h}, err
}

// GetMsg implements jetstream.Stream.
func (o opener) GetMsg(
	ctx context.Context, sequence uint64, options ...jetstream.GetMsgOpt,
) (*jetstream.RawStreamMsg, error) {
	return o.open(o.Stream.GetMsg(ctx, sequence, options...))
}

// GetLastMsgForSubject implements jetstream.Stream.
func (o opener) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	return o.open(o.Stream.GetLastMsgForSubject(ctx, subject))
}

func (o opener) open(msg *jetstream.RawStreamMsg, err error) (*jetstream.RawStreamMsg, error) {
	if err == nil {
		msg.Data = o.host.Open(msg.Subject, msg.Data)
	}
	return msg, err
}

// opened is a message of a follower, with what was sealed.
type opened struct {
	jetstream.Msg
	data []byte
}

// Data implements jetstream.Msg.
func (o opened) Data() []byte { return o.data }
