package stream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/stretch"
)

// A Writer stores messages in one stream.
type Writer interface {
	// Write returns the message's sequence once it is on stable storage, TooLarge for
	// one of more than MaxData bytes, and Unavailable if it takes too long or the
	// engine has stopped. The end of ctx does not stop it. It keeps data only if it
	// fails. After a DoubtError the message may still be stored. Only an external engine
	// stores the header, which may be nil.
	Write(ctx context.Context, subject string, header nats.Header, data []byte) (sequence uint64, err error)

	// WriteTogether stores all or none of the messages, one right behind the other, and returns
	// the sequence of the last one once they are on stable storage. After a crash of the embedded
	// engine the first of them may be there alone, until a start has removed those, see TornFrom.
	WriteTogether(ctx context.Context, messages []*nats.Msg) (sequence uint64, err error)

	// Durable returns the sequence up to which all messages are on stable storage.
	// Later ones can be read, but may still be lost.
	Durable() uint64
}

// WriterOptions configure a writer. The zero value will do.
type WriterOptions struct {
	// Withdrawn, if set, keeps a refused message from being stored later: a message
	// with this subject takes its place.
	Withdrawn string

	// Busy says that there are many messages: on an external engine they go straight
	// to the server that leads the stream.
	Busy bool

	// Blocks, if set, are the files of the embedded engine's stream. Whoever else syncs
	// them uses the same.
	Blocks *durable.Blocks
}

// A Written is a stream with its writer.
type Written struct {
	jetstream.Stream
	Writer
}

// OpenWritten opens the stream of a configuration, see OpenStream, and starts its writer.
func (h *Host) OpenWritten(
	ctx, running context.Context, config jetstream.StreamConfig, o WriterOptions,
) (Written, error) {
	found, err := h.OpenStream(ctx, h.JS, config)
	if err != nil {
		return Written{}, err
	}
	return h.StartWriter(running, found, o)
}

// StartWriter starts the writer of a stream, until running ends.
func (h *Host) StartWriter(running context.Context, stream jetstream.Stream, o WriterOptions) (Written, error) {
	if !h.SoleWriter {
		return Written{stream, sealer{newClusterWriter(running, h, stream.CachedInfo().Config, o), h}}, nil
	}
	batch, err := newBatchWriter(h, stream, o.Blocks)
	if err != nil {
		return Written{}, err
	}
	h.add(batch)
	h.Start(func() { batch.run(running) })
	h.Start(batch.watch)
	return Written{stream, sealer{batch, h}}, nil
}

// NewEmbedded returns the host of an engine in this process, with its store in a folder. It
// is not connected or set up yet.
func NewEmbedded(log *slog.Logger, dir string) *Host {
	h := newHost(log)
	h.Dir, h.DirectReads, h.SoleWriter = dir, true, true
	return h
}

// NewExternal returns the host of an external engine, where each stream has so many
// replicas. It is not connected or set up yet.
func NewExternal(log *slog.Logger, replicas int) *Host {
	h := newHost(log)
	h.Replicas = replicas
	return h
}

// Config completes the configuration of a stream for the host. On the embedded engine the
// window of duplicates is short, because messages have no ids there, and the engine reads all
// messages of the window at each start.
func (h *Host) Config(c jetstream.StreamConfig) jetstream.StreamConfig {
	c.Replicas = max(1, h.Replicas)
	window := 100 * time.Millisecond
	if !h.SoleWriter {
		window = stretch.Of(retryWindow)
		c.AllowAtomicPublish = true // see clusterWriter
	}
	c.Duplicates = cmp.Or(c.Duplicates, window)
	if c.MaxAge > 0 {
		c.Duplicates = min(c.Duplicates, c.MaxAge)
	}
	return c
}

// Patience returns how long the engine may take for something that mostly takes so long.
// During the set-up of an embedded engine no caller waits and the disk may be slow. Afterwards a
// disk that hangs must be noticed.
func (h *Host) Patience(mostly time.Duration) time.Duration {
	if h.SoleWriter && !h.IsSetUp() {
		return SetUpTimeout
	}
	return stretch.Of(mostly)
}

// passing reports whether the next attempt may succeed after an error. Of an external engine,
// another node may have just made the same stream, and not every server knows of it yet.
func (h *Host) passing(about string, err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) {
		if h.SoleWriter { // before it is set up, only the log can tell of a problem
			h.Log.Warn("The engine has not answered; asking again.", "about", about, "error", err)
		}
		return true
	}
	return !h.SoleWriter && slices.ContainsFunc([]error{
		jetstream.ErrStreamNotFound, jetstream.ErrStreamNameAlreadyInUse, nats.ErrNoResponders, nats.ErrDisconnected,
	}, func(known error) bool { return errors.Is(err, known) })
}
