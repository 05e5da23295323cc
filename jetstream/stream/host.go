// Package stream has what all streams of the engine have in common: the host they live on
// and whether it can be used, durable writes, reading many messages at a time, and the
// engine's errors in our words.
//
// layout.go has the names of all streams and how long they keep messages. host.go and
// health.go describe the host, and engine.go how an embedded engine and an external one
// differ: the first has a group commit (batch.go), the second batches (cluster.go) that go
// straight to the leader (shortcut.go). fetch.go and scan.go read.
//
// The packages above decide what is in the messages: record, queue, journal, jetstream.
package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
	"sluice/stretch"
)

const (
	// AskTimeout bounds each request to the engine that has no bound of its own.
	AskTimeout = 3 * time.Second
	// SetUpTimeout bounds the set-up of an embedded engine. It should never be reached:
	// that engine always replies, as soon as the disk lets it.
	SetUpTimeout = time.Hour
)

// A Host is the server that streams live on: the embedded one or an external one.
type Host struct {
	Conn     *nats.Conn
	Link     *Link // what is known of the connection; nil: embedded
	JS       jetstream.JetStream
	Side     *nats.Conn          // for work that must not hold up calls; a separate connection if embedded
	SideJS   jetstream.JetStream // on Side
	Dir      string              // folder of the embedded engine's store; "": it is elsewhere
	Replicas int                 // of each stream on the external engine
	Log      *slog.Logger

	// DirectReads says that any server can answer a read. In a cluster a replica may
	// be behind, so there only the leader can.
	DirectReads bool

	// SoleWriter says that only this process writes: there are no other nodes to tell
	// or to ask.
	SoleWriter bool

	// Reopened says that this is the host of a spool, which is opened again if it fails.
	Reopened bool

	// Dial connects to one server of an external engine; nil if it is embedded.
	Dial func(url string, link *Link, options ...nats.Option) (*nats.Conn, error)

	// Syncs reports whether we sync the embedded engine's writes to a stream, or with
	// "" to any stream.
	Syncs func(stream string) bool

	// Observe, if set, returns a function to call for each batch of a stream that was
	// written and synced.
	Observe func(stream string) func(messages int, took time.Duration)

	sealing atomic.Pointer[sealing] // nil: nothing is sealed

	engine  engine
	running sync.WaitGroup
	near    near

	ready   chan struct{}          // closed once set up
	problem atomic.Value           // string: why it is not set up yet
	lowDisk atomic.Pointer[string] // what there is too little of

	refusing atomic.Bool  // the external engine takes no writes
	wrote    atomic.Int64 // when it last took one, in nanoseconds
	doubtful atomic.Bool  // since then it has left one unanswered

	late    atomic.Int32 // writers whose batches take longer than calls wait for
	mu      sync.Mutex
	writers []*batchWriter // of the embedded engine

	failOnce sync.Once
	failed   chan struct{} // closed when it can't go on
	failure  error
}

func newHost(log *slog.Logger, engine engine) *Host {
	h := &Host{Log: log, engine: engine, ready: make(chan struct{}), failed: make(chan struct{}), Syncs: func(string) bool { return false }}
	h.near.servers, h.near.failed = make(map[string]*direct), make(map[string]time.Time)
	h.problem.Store("the engine is starting")
	h.lowDisk.Store(new(string))
	return h
}

// Start runs a function that Wait waits for.
func (h *Host) Start(run func()) { h.running.Go(run) }

// Every does something at an interval until ctx ends. Wait waits for it.
func (h *Host) Every(ctx context.Context, interval time.Duration, do func(now time.Time)) {
	h.Start(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				do(now)
			}
		}
	})
}

// Wait returns when all that was started has ended.
func (h *Host) Wait() {
	h.leaveNear()
	h.running.Wait()
}

// Disconnect ends the connections to the engine.
func (h *Host) Disconnect() {
	if h.Link != nil {
		h.Link.Release()
	}
	for _, conn := range []*nats.Conn{h.Conn, h.Side} {
		if conn != nil {
			conn.Close()
		}
	}
}

// Connect gives the host its connections: one for calls and one for work that must not hold
// them up. Both may be the same.
func (h *Host) Connect(calls, side *nats.Conn) (err error) {
	h.Conn, h.Side = calls, side
	if h.JS, err = jetstream.New(calls, jetstream.WithDefaultTimeout(stretch.Of(AskTimeout))); err != nil {
		return err
	}
	h.SideJS, err = jetstream.New(side, jetstream.WithDefaultTimeout(stretch.Of(AskTimeout)))
	return err
}

// Config completes the configuration of a stream for the host.
func (h *Host) Config(c jetstream.StreamConfig) jetstream.StreamConfig {
	c.Replicas = max(1, h.Replicas)
	h.engine.complete(&c)
	if c.MaxAge > 0 {
		c.Duplicates = min(c.Duplicates, c.MaxAge)
	}
	return c
}

// Blocks returns the message blocks of one of the embedded engine's streams, nil if we don't
// sync them.
func (h *Host) Blocks(stream string) *durable.Blocks {
	if !h.Syncs(stream) {
		return nil
	}
	return &durable.Blocks{Dir: filepath.Join(h.StreamFolder(stream), "msgs")}
}

// StreamFolder returns the folder of one of the embedded engine's streams.
func (h *Host) StreamFolder(stream string) string {
	return filepath.Join(h.Dir, "jetstream", "$G", "streams", stream)
}

// RemoveFiles removes the files of a deleted stream. The embedded engine removes them later,
// or never if it is killed before.
func (h *Host) RemoveFiles(stream string) error {
	if h.Dir == "" {
		return nil
	}
	folder := h.StreamFolder(stream)
	return errors.Join(os.RemoveAll(folder), os.RemoveAll(filepath.Join(filepath.Dir(folder), "."+stream)))
}

// SyncStream puts a folder of one of the embedded engine's streams on stable
// storage.
func (h *Host) SyncStream(stream string, below ...string) error {
	return h.SyncStore(append([]string{"jetstream", "$G", "streams", stream}, below...)...)
}

// SyncStore puts a folder of the embedded engine's store on stable storage, with the names
// of the folder and of those above it.
func (h *Host) SyncStore(folders ...string) error {
	if !h.Syncs("") {
		return nil
	}
	folder := h.Dir
	var err error
	for _, below := range folders {
		err = errors.Join(err, durable.Sync(folder))
		folder = filepath.Join(folder, below)
	}
	if err = errors.Join(err, durable.SyncTree(folder)); err != nil {
		h.Fail(fmt.Errorf("sync of the store: %w", err))
		return sluice.Passing(sluice.CodeEngineFailed, "The change could not be made durable.").Because(err)
	}
	return nil
}

// NoAnswer is the error of an engine that does not reply.
func NoAnswer(err error) error {
	return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not answer.").Because(err)
}

// hasFailed is the error of an engine that can't go on.
func (h *Host) hasFailed() error {
	if h.Reopened {
		return sluice.Passing(sluice.CodeEngineFailed, "It has failed and is being opened again.")
	}
	return sluice.Passing(sluice.CodeEngineFailed, "The engine failed and is about to restart.")
}

// WasConflict reports whether another write came first. Replicated streams report that with
// a code of their own.
func WasConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// limits say what to do about the limits of an external engine, by the codes of its errors.
// The library names few of the codes.
var limits = map[jetstream.ErrorCode]string{
	jetstream.JSErrCodeMaximumConsumersLimit: "the engine's account takes no more consumers, and each pipeline that listens needs one; raise its max_consumers, or delete a pipeline that listens",

	10005: "the engine has too few servers with enough storage for so many copies; raise max_file_store of its servers, add servers, or lower --nats-replicas, --event-max-bytes or --result-max-bytes",
	10074: "the engine is no cluster and keeps one copy of everything; set --nats-replicas 1",
	10002: "the engine's account has used up its storage; raise its max_file",
	10027: "the engine's account takes no more streams; raise its max_streams to 40 or more",
	10047: "the engine's account has too little storage; raise its max_file, or lower --event-max-bytes and --result-max-bytes",
	10121: "the engine's account takes fewer unfinished events of a consumer than eight times the pipeline's concurrency; raise its max_ack_pending, or lower concurrency",
	10122: "the engine's account takes only smaller streams; raise its max_stream_bytes, or lower --event-max-bytes and --result-max-bytes",
}

// LimitOf returns what to do about the limit of the engine that caused an error, "" if none
// did.
func LimitOf(err error) string {
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return ""
	}
	return limits[api.ErrorCode]
}

// NotTaken is the error of a write that the engine has not taken. A limit stays until the
// operator raises it, so trying again soon makes no sense.
func NotTaken(what string, err error) error {
	if limit := LimitOf(err); limit != "" {
		return sluice.Errorf(sluice.CodeEngineLimit, "The engine did not take %s: %s.", what, limit).Because(err)
	}
	return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take "+what+".").Because(err)
}
