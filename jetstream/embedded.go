package jetstream

import (
	"context"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
)

// embedded is the backend in this process, with its store in a folder.
type embedded struct {
	*Engine

	process *server.Server // nil: it has not started
}

// useEmbedded gives the engine a backend in this process.
func (e *Engine) useEmbedded() {
	e.host = stream.NewEmbedded(e.opts.Log, e.opts.Dir)
	e.host.Syncs = e.opts.syncs
	e.server, e.losses = &embedded{Engine: e}, &storeCheck{Engine: e}
	e.Description = "embedded"
}

func (m *embedded) connect() error {
	if err := m.inspect(); err != nil {
		return err
	}
	process, conn, err := startEmbedded(m.opts)
	if err != nil {
		return err
	}
	m.process, m.host.Conn = process, conn
	side, err := m.connection()
	if err != nil {
		return err
	}
	return m.host.Connect(conn, side)
}

func (m *embedded) connection() (*nats.Conn, error) { return connectEmbedded(m.process) }

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
	m.keepWatermarks(running)
	m.host.WatchDisk(running, m.opts.MinFreeDisk)
	return nil
}

func (m *embedded) stop() {
	if m.process != nil && stopEmbedded(m.process) {
		m.noteStop()
	}
}
