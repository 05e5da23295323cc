package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	auditSubject  = "svc.audit"
	auditMaxAge   = 365 * 24 * time.Hour
	auditMaxBytes = 1 << 30
)

// Audit implements sluice.Audit on a stream of its own.
type Audit struct {
	engine *Engine
	stream jetstream.Stream
	writer streamWriter
}

func (a *Audit) setUp(ctx, running context.Context) (err error) {
	a.stream, err = a.engine.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        "AUDIT",
		Subjects:    []string{auditSubject},
		MaxAge:      auditMaxAge,
		MaxBytes:    auditMaxBytes,
		Replicas:    max(1, a.engine.opts.Replicas),
		AllowDirect: true,
		Duplicates:  a.engine.duplicateWindow(),
	})
	if err != nil {
		return err
	}
	a.writer, err = a.engine.startWriter(running, a.stream)
	return err
}

// Record implements sluice.Audit.
func (a *Audit) Record(ctx context.Context, e sluice.AuditEntry) error {
	if err := a.engine.connected(); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = a.writer.write(ctx, auditSubject, rand.Text(), data)
	return err
}

// Entries implements sluice.Audit.
func (a *Audit) Entries(ctx context.Context, q sluice.AuditQuery) (entries []sluice.AuditEntry, next string, err error) {
	if err := a.engine.connected(); err != nil {
		return nil, "", err
	}
	return scan(ctx, a.stream, span{from: q.From, to: q.To, before: q.Before, limit: q.Limit},
		func(e *sluice.AuditEntry) time.Time { return e.Time },
		func(_ uint64, e *sluice.AuditEntry) bool {
			return (q.Username == "" || e.Username == q.Username) && (q.Command == "" || e.Command == q.Command)
		})
}
