package stream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/stretch"
)

// An engine has the parts of a Host that differ between the embedded engine and an
// external one.
type engine interface {
	// complete sets what a stream needs on this engine.
	complete(c *jetstream.StreamConfig)

	// startWriter returns the writer of a stream.
	startWriter(h *Host, running context.Context, s jetstream.Stream, o WriterOptions) (Writer, error)

	// passing reports whether the next attempt may succeed after an error.
	passing(about string, err error) bool

	// patience returns how long a reply may take that mostly takes so long.
	patience(mostly time.Duration, isSetUp bool) time.Duration
}

// A Writer stores messages in one stream.
type Writer interface {
	// Write returns the message's sequence once it is on stable storage, TooLarge for
	// one of more than MaxData bytes, and Unavailable if it takes too long or the
	// engine has stopped. The end of ctx
	// does not stop it. It keeps data only if it fails. After a DoubtError the message
	// may still be stored. Only an external engine stores the header, which may be nil.
	Write(ctx context.Context, subject string, header nats.Header, data []byte) (sequence uint64, err error)

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

// StartWriter returns a writer for a stream of the host.
func (h *Host) StartWriter(running context.Context, stream jetstream.Stream, o WriterOptions) (Writer, error) {
	writer, err := h.engine.startWriter(h, running, stream, o)
	return sealer{writer, h}, err
}

// NewEmbedded returns the host of an engine in this process, with its store in a folder. It
// is not connected or set up yet.
func NewEmbedded(log *slog.Logger, dir string) *Host {
	h := newHost(log, embedded{log})
	h.Dir, h.DirectReads, h.SoleWriter = dir, true, true
	return h
}

// NewExternal returns the host of an external engine, where each stream has so many
// replicas. It is not connected or set up yet.
func NewExternal(log *slog.Logger, replicas int) *Host {
	h := newHost(log, external{})
	h.Replicas = replicas
	return h
}

type embedded struct{ log *slog.Logger }

// complete implements engine. The window is short because messages have no ids here, and
// the engine reads all messages of the window at each start.
func (embedded) complete(c *jetstream.StreamConfig) { c.Duplicates = 100 * time.Millisecond }

func (embedded) startWriter(h *Host, running context.Context, s jetstream.Stream, o WriterOptions) (Writer, error) {
	batch, err := newBatchWriter(h, s, o.Blocks)
	if err != nil {
		return nil, err
	}
	h.add(batch)
	h.Start(func() { batch.run(running) })
	h.Start(batch.watch)
	return batch, nil
}

func (e embedded) passing(about string, err error) bool {
	if !timedOut(err) {
		return false
	}
	// Before the engine is set up, only the log can tell of a problem.
	e.log.Warn("The engine has not answered; asking again.", "about", about, "error", err)
	return true
}

// patience implements engine. During set-up no caller waits and the disk may be slow.
// Afterwards a disk that hangs must be noticed.
func (embedded) patience(mostly time.Duration, isSetUp bool) time.Duration {
	if isSetUp {
		return mostly
	}
	return SetUpTimeout
}

type external struct{}

func (external) complete(c *jetstream.StreamConfig) {
	c.Duplicates = stretch.Of(retryWindow)
	c.AllowAtomicPublish = true // see clusterWriter
}

func (external) startWriter(h *Host, running context.Context, s jetstream.Stream, o WriterOptions) (Writer, error) {
	return newClusterWriter(running, h, s.CachedInfo().Config, o), nil
}

// passing implements engine. Another node may have just made the same stream, and not every
// server knows of it yet.
func (external) passing(_ string, err error) bool {
	for _, known := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound, jetstream.ErrStreamNameAlreadyInUse,
		jetstream.ErrBucketExists,
		nats.ErrNoResponders, nats.ErrDisconnected,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return timedOut(err)
}

func (external) patience(mostly time.Duration, _ bool) time.Duration { return mostly }

// timedOut reports whether there was no reply in time.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}
