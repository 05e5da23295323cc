package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// embedded is the backend in this process, with its store in a folder.
type embedded struct {
	*Engine

	process process // nil: it has not started
}

// A process is a server of the engine in this process.
type process interface {
	nats.InProcessConnProvider
	Shutdown()
	WaitForShutdown()
}

// useEmbedded gives the engine a backend in this process.
func (e *Engine) useEmbedded() {
	e.host = stream.NewEmbedded(e.opts.Log, e.opts.Dir)
	e.host.Syncs = e.opts.syncs
	e.server = &embedded{Engine: e}
	e.Description = "embedded"
}

func (m *embedded) connect() error {
	if err := m.inspect(); err != nil {
		return err
	}
	var err error
	m.process, err = connectEmbedded(m.host, m.opts)
	return err
}

func (m *embedded) connection() (*nats.Conn, error) { return connectTo(m.process) }

func (m *embedded) usable(context.Context) error { return nil }

func (m *embedded) once(events delivery.Engine) delivery.Once {
	return delivery.NewIndexed(m.host, m.opts.DeliveryMemory, events)
}

// fit implements backend: unless there is a setting, events take half of the disk.
func (m *embedded) fit(ctx context.Context, events *jetstream.StreamConfig) error {
	if events.MaxBytes > 0 {
		return nil
	}
	free, err := durable.FreeSpace(m.host.Dir)
	if err != nil {
		return err
	}
	used, err := m.host.JS.AccountInfo(ctx)
	if err != nil {
		return err
	}
	events.MaxBytes = max(64<<20, (free.Bytes+int64(used.Store))/2)
	return nil
}

func (m *embedded) watch(running context.Context) error {
	m.host.TryEvery(running, watermarkEvery, "How much is stored could not be written down.", m.writeWatermarks)
	m.host.WatchDisk(running, m.opts.MinFreeDisk)
	return nil
}

func (m *embedded) stop() {
	if m.process != nil && stopEmbedded(m.process) {
		m.noteStop()
	}
}

const (
	embeddedStart = 5 * time.Minute // a killed server reads its whole store
	embeddedStop  = 5 * time.Second // a clean stop only makes the next start faster
)

// startEmbedded runs a JetStream server in the process, without a port. It tells of a stream that can't be
// written any more until a restart.
func startEmbedded(opts Options, fail func(error)) (process, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "sluice",
		DontListen: true,
		NoSigs:     true,
		JetStream:  true,
		StoreDir:   opts.Dir,
		MaxPayload: stream.MaxMessage,
		SyncAlways: opts.Sync == EngineSync,
		// Streams have limits of their own. Without these two the engine derives a
		// limit from the disk, and refuses streams beyond it.
		JetStreamMaxMemory: 1 << 30,
		JetStreamMaxStore:  1 << 50,
		// Each outcome and acknowledgement has its own subject, so a cache of their
		// subscribers is useless.
		NoSublistCache: true,
		// Otherwise a stream takes only 1,000 consumers, and each listening pipeline
		// is one.
		JetStreamLimits: server.JSLimitOpts{DefaultMaxConsumers: -1},
	})
	if err != nil {
		return nil, err
	}
	s.SetLoggerV2(engineLog{opts.Log, fail}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(embeddedStart) || !s.JetStreamEnabled() {
		stopEmbedded(s)
		return nil, errors.New("the embedded engine did not start")
	}
	return s, nil
}

// connectEmbedded starts the server of a host, and gives the host its connections. After an error the server
// may run.
func connectEmbedded(h *stream.Host, opts Options) (process, error) {
	s, err := startEmbedded(opts, h.Fail)
	if err != nil {
		return nil, err
	}
	calls, err := connectTo(s)
	if err != nil {
		return s, err
	}
	side, err := connectTo(s)
	if err != nil {
		calls.Close()
		return s, err
	}
	return s, h.Connect(calls, side)
}

// connectTo connects to the server in the process.
func connectTo(s process) (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s), nats.MaxReconnects(-1), nats.Timeout(stream.SetUpTimeout))
}

// stopEmbedded stops a server. It reports whether that was done in time.
func stopEmbedded(s process) (stopped bool) {
	done := make(chan struct{})
	go func() {
		s.Shutdown()
		s.WaitForShutdown()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(stretch.Of(embeddedStop)):
		return false
	}
}

// engineLog passes on the embedded server's warnings and errors.
type engineLog struct {
	log  *slog.Logger
	fail func(error)
}

func (l engineLog) Noticef(string, ...any) {}

func (l engineLog) Debugf(string, ...any) {}

func (l engineLog) Tracef(string, ...any) {}

func (l engineLog) Warnf(format string, args ...any) {
	l.log.Warn("engine: " + fmt.Sprintf(format, args...))
}

// writeError is what the engine says when it has disabled all further writes to one of its streams. It
// goes on with the others, and nothing else tells.
const writeError = "Critical write error"

func (l engineLog) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("engine: " + text)
	if strings.Contains(text, writeError) {
		l.fail(errors.New(text))
	}
}

func (l engineLog) Fatalf(format string, args ...any) {
	l.log.Error("engine: " + fmt.Sprintf(format, args...))
}
