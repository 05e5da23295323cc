package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

const (
	auditSubject  = "svc.audit"
	auditMaxAge   = 365 * 24 * time.Hour
	auditMaxBytes = 1 << 30
)

// Audit implements sluice.Audit on a stream of its own.
type Audit struct {
	host   *stream.Host
	stream jetstream.Stream
	writer stream.Writer
}

func (a *Audit) setUp(ctx, running context.Context) (err error) {
	a.stream, err = a.host.OpenStream(ctx, a.host.JS, a.host.Config(jetstream.StreamConfig{
		Name:        "AUDIT",
		Subjects:    []string{auditSubject},
		MaxAge:      auditMaxAge,
		MaxBytes:    auditMaxBytes,
		AllowDirect: true,
	}))
	if err != nil {
		return err
	}
	a.writer, err = a.host.StartWriter(running, a.stream, "")
	return err
}

// Record implements sluice.Audit.
func (a *Audit) Record(ctx context.Context, e sluice.AuditEntry) error {
	if err := a.host.Connected(); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = a.writer.Write(ctx, auditSubject, rand.Text(), data)
	return err
}

// Entries implements sluice.Audit.
func (a *Audit) Entries(ctx context.Context, q sluice.AuditQuery) (entries []sluice.AuditEntry, next string, err error) {
	if err := a.host.Connected(); err != nil {
		return nil, "", err
	}
	return stream.Scan(ctx, a.stream, stream.Span{From: q.From, To: q.To, Before: q.Before, Limit: q.Limit},
		func(e *sluice.AuditEntry) time.Time { return e.Time },
		func(_ uint64, e *sluice.AuditEntry) bool {
			return (q.Username == "" || e.Username == q.Username) && (q.Command == "" || e.Command == q.Command)
		})
}
