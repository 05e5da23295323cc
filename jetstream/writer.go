package jetstream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A streamWriter stores messages in one stream.
type streamWriter interface {
	// write returns the message's sequence once it is on stable storage, and
	// Unavailable if that takes too long or the engine has stopped. The end of
	// ctx does not cut it off: what was begun is stored. It does not keep
	// data, unless it fails. The id tells an attempt that is made again from
	// another message.
	write(ctx context.Context, subject, id string, data []byte) (sequence uint64, err error)

	// durable gives the sequence up to which all messages are on stable
	// storage. Those behind it can be read, and may still be lost.
	durable() uint64
}

// startWriter gives the writer of a stream, as fits the engine.
func (e *Engine) startWriter(running context.Context, stream jetstream.Stream) (streamWriter, error) {
	if e.server == nil {
		return &clusterWriter{js: e.js, stream: stream.CachedInfo().Config.Name}, nil
	}
	batch, err := newBatchWriter(e, stream)
	if err != nil {
		return nil, err
	}
	e.start(func() { batch.run(running) })
	e.start(batch.watch)
	return batch, nil
}

// duplicateWindow is how long the engine remembers the ids of messages, to store
// a message once that is sent twice. Only an external engine needs that; the
// embedded one would read all messages of the window at each start.
func (e *Engine) duplicateWindow() time.Duration {
	if e.server == nil {
		return 2 * time.Minute
	}
	return 100 * time.Millisecond
}
