package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Entries reads a stream of JSON entries, each with its time. A message that can't be read
// is left out, so that the entries around it can be read: on an external engine another
// program may have published it.
type Entries[T any] struct {
	host   *Host
	stream jetstream.Stream
	timeOf func(*T) time.Time

	mu      sync.Mutex
	leftOut map[uint64]bool // the messages that the log has named
}

// NewEntries returns the entries of a stream.
func NewEntries[T any](h *Host, s jetstream.Stream, timeOf func(*T) time.Time) *Entries[T] {
	return &Entries[T]{host: h, stream: s, timeOf: timeOf, leftOut: make(map[uint64]bool)}
}

// Read returns one entry, nil if it is gone or can't be read.
func (e *Entries[T]) Read(ctx context.Context, sequence uint64) (*T, error) {
	msg, err := e.stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, NoAnswer(err)
	}
	entry := new(T)
	if err := json.Unmarshal(msg.Data, entry); !e.Readable(entry, sequence, msg.Subject, err) {
		return nil, nil
	}
	return entry, nil
}

var errNoTime = errors.New("it has no time, which every entry has")

// Readable reports whether a message is an entry, given what was read of it and the error
// of reading it. It logs a message that is none. An entry must have a time: otherwise it
// would seem to be the oldest, and a scan would end there.
func (e *Entries[T]) Readable(entry *T, sequence uint64, subject string, err error) bool {
	if err == nil && e.timeOf(entry).IsZero() {
		err = errNoTime
	}
	if err != nil {
		e.leaveOut(sequence, subject, err)
	}
	return err == nil
}

// maxLeftOut bounds how many messages of a stream the log names.
const maxLeftOut = 1000

// leaveOut logs once that a message is left out, however often it is read.
func (e *Entries[T]) leaveOut(sequence uint64, subject string, err error) {
	e.mu.Lock()
	known := e.leftOut[sequence] || len(e.leftOut) == maxLeftOut
	if !known {
		e.leftOut[sequence] = true
	}
	last := len(e.leftOut) == maxLeftOut
	e.mu.Unlock()
	if known {
		return
	}
	name := e.stream.CachedInfo().Config.Name
	e.host.Log.Error("A stored message can't be read; it is left out.", "stream", name, "sequence", sequence,
		"subject", subject, "error", err)
	if last {
		e.host.Log.Error("Many stored messages can't be read; further ones are left out without being named.",
			"stream", name)
	}
}
