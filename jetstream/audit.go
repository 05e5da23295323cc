package jetstream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Audit implements sluice.Audit on a stream of its own.
type Audit struct {
	host   *stream.Host
	stream jetstream.Stream
	writer stream.Writer

	entries *stream.Entries[sluice.AuditEntry]
}

func (a *Audit) setUp(ctx, running context.Context) (err error) {
	a.stream, err = a.host.OpenStream(ctx, a.host.JS, a.host.Config(jetstream.StreamConfig{
		Name:     stream.Audit,
		Subjects: []string{stream.ChangeSubject, stream.AccessSubject},
		MaxAge:   stream.AuditAge,
		MaxBytes: stream.AuditBytes,

		MaxMsgsPerSubject: stream.AuditEntries,
		AllowDirect:       true,
	}))
	if err != nil {
		return err
	}
	a.entries = stream.NewEntries(a.host, a.stream, func(e *sluice.AuditEntry) time.Time { return e.Time })
	a.writer, err = a.host.StartWriter(running, a.stream, stream.WriterOptions{})
	return err
}

// Record implements sluice.Audit.
func (a *Audit) Record(ctx context.Context, e sluice.AuditEntry) error {
	if err := a.host.Connected(); err != nil {
		return err
	}
	data, err := value.Marshal(e)
	if err != nil {
		return err
	}
	subject := stream.AccessSubject
	if e.Change() {
		subject = stream.ChangeSubject
	}
	_, err = a.writer.Write(ctx, subject, nil, data)
	return err
}

// Entries implements sluice.Audit.
func (a *Audit) Entries(ctx context.Context, q sluice.AuditQuery) (entries []sluice.AuditEntry, next string, err error) {
	if err := a.host.Connected(); err != nil {
		return nil, "", err
	}
	return a.entries.Scan(ctx, stream.ScanQuery{From: q.From, To: q.To, Before: q.Before, Limit: q.Limit},
		func(_ uint64, e *sluice.AuditEntry) bool {
			return (q.Username == "" || e.Username == q.Username) && (q.Command == "" || e.Command == q.Command) &&
				(q.Outcome == "" || e.Outcome == q.Outcome)
		})
}
