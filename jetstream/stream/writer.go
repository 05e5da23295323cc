package stream

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Writer stores messages in one stream.
type Writer interface {
	// Write returns the message's sequence once it is on stable storage, and
	// Unavailable if that takes too long or the engine has stopped. The end of
	// ctx does not stop it: what was begun is stored. It does not keep data,
	// unless it fails. An error of a message that may be stored all the same is
	// a Doubt. Only an external engine keeps a header, which may be nil.
	Write(ctx context.Context, subject string, header nats.Header, data []byte) (sequence uint64, err error)

	// Durable returns the sequence up to which all messages are on stable
	// storage. Later ones can be read, and may still be lost.
	Durable() uint64
}

// WriterOptions are about one writer. None of them is needed.
type WriterOptions struct {
	// Withdrawn has the effect that a message that was refused is not stored
	// later: what is stored in its place has this subject.
	Withdrawn string

	// Busy says that messages are many: on an external engine they go straight
	// to the server that leads the stream.
	Busy bool

	// Rewritten says that messages are removed from the midst of the stream,
	// so that the engine rewrites older blocks; they are synced, too.
	Rewritten bool
}

// StartWriter returns the writer of a stream that fits the host.
func (h *Host) StartWriter(running context.Context, stream jetstream.Stream, o WriterOptions) (Writer, error) {
	return h.engine.startWriter(h, running, stream, o)
}
