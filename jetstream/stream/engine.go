package stream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/stretch"
)

// An engine has the parts of a Host that differ between the embedded engine and an
// external one.
type engine interface {
	// complete sets what a stream needs on this engine.
	complete(c *jetstream.StreamConfig)

	// startWriter returns the writer of a stream.
	startWriter(h *Host, running context.Context, s jetstream.Stream, o WriterOptions) (Writer, error)

	// passing reports whether an error about something may be over at the next attempt.
	passing(about string, err error) bool

	// patience returns how long an answer may take that mostly takes so long.
	patience(mostly time.Duration, isSetUp bool) time.Duration
}

// NewEmbedded returns the host of an engine in this process, with its store in a
// folder. It is yet to be connected and set up.
func NewEmbedded(log *slog.Logger, dir string) *Host {
	h := newHost(log, embedded{log})
	h.Dir, h.DirectReads, h.SoleWriter = dir, true, true
	return h
}

// NewExternal returns the host of an engine elsewhere, on which each stream has so many
// replicas. It is yet to be connected and set up.
func NewExternal(log *slog.Logger, replicas int) *Host {
	h := newHost(log, external{})
	h.Replicas = replicas
	return h
}

type embedded struct{ log *slog.Logger }

// complete implements engine. The embedded engine need not remember the ids of
// messages: it would read all messages of the window at each start.
func (embedded) complete(c *jetstream.StreamConfig) { c.Duplicates = 100 * time.Millisecond }

func (embedded) startWriter(h *Host, running context.Context, s jetstream.Stream, o WriterOptions) (Writer, error) {
	batch, err := newBatchWriter(h, s)
	if err != nil {
		return nil, err
	}
	if batch.blocks != nil {
		batch.blocks.Rewritten = o.Rewritten
	}
	h.Start(func() { batch.run(running) })
	h.Start(batch.watch)
	return batch, nil
}

func (e embedded) passing(about string, err error) bool {
	if !timedOut(err) {
		return false
	}
	// Nobody is told of problems before it is set up.
	e.log.Warn("The engine has not answered; asking again.", "about", about, "error", err)
	return true
}

// patience implements engine. While the engine is being set up nobody waits for an
// answer yet, and the disk may be slow. At any other time one that hangs must be
// noticed.
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

// passing implements engine. Another node may have just made the same, and not every
// server knows yet.
func (external) passing(_ string, err error) bool {
	for _, known := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound, jetstream.ErrStreamNameAlreadyInUse, jetstream.ErrBucketExists,
		nats.ErrNoResponders, nats.ErrDisconnected,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return timedOut(err)
}

func (external) patience(mostly time.Duration, _ bool) time.Duration { return mostly }

// timedOut reports whether nobody has answered.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}
