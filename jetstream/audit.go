package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Audit implements sluice.Audit on a stream of its own.
type Audit struct {
	host   *stream.Host
	stream stream.Written

	entries *stream.Entries[sluice.AuditEntry]

	mu     sync.Mutex
	chains map[string]*auditChain // by subject
}

// An auditChain is what the next entry of a subject follows.
type auditChain struct {
	id     string
	number int
	last   string // hash
}

// link chains an entry to the one before it. The two may be stored in another order.
func (a *Audit) link(ctx context.Context, subject string, e *sluice.AuditEntry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.chains[subject]
	if c == nil {
		c = &auditChain{id: subject[len(subject)-1:] + strings.ToLower(rand.Text()[:10])}
		msg, err := stream.Found(a.stream.GetLastMsgForSubject(ctx, subject))
		if err != nil {
			return err
		}
		var newest sluice.AuditEntry
		if msg != nil && json.Unmarshal(msg.Data, &newest) == nil {
			c.last = newest.Hash
		}
		a.chains[subject] = c
	}
	c.number++
	e.Chain, e.Number, e.Previous = c.id, c.number, c.last
	e.Hash = e.Sum()
	c.last = e.Hash
	return nil
}

// Restart ends all chains, as when an entry may not be stored: the next ones begin others.
func (a *Audit) Restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.chains)
}

func (a *Audit) setUp(ctx, running context.Context) (err error) {
	a.stream, err = a.host.OpenWritten(ctx, running, jetstream.StreamConfig{
		Name:     stream.Audit,
		Subjects: []string{stream.ChangeSubject, stream.AccessSubject},
		MaxAge:   stream.AuditAge,
		MaxBytes: stream.AuditBytes,

		MaxMsgsPerSubject: stream.AuditEntries,
		AllowDirect:       true,
	}, stream.WriterOptions{})
	a.entries = stream.NewEntries(a.host, a.stream, func(e *sluice.AuditEntry) time.Time { return e.Time })
	return err
}

// Record implements sluice.Audit.
func (a *Audit) Record(ctx context.Context, e sluice.AuditEntry) error {
	if err := a.host.Connected(); err != nil {
		return err
	}
	subject := stream.AccessSubject
	if e.Change() {
		subject = stream.ChangeSubject
	}
	if err := a.link(ctx, subject, &e); err != nil {
		return err
	}
	data, err := value.Marshal(e)
	if err == nil {
		_, err = a.stream.Write(ctx, subject, nil, data)
	}
	if err != nil {
		a.Restart()
	}
	return err
}

// Entries implements sluice.Audit.
func (a *Audit) Entries(
	ctx context.Context, q sluice.AuditQuery,
) (entries []sluice.AuditEntry, next string, err error) {
	if err := a.host.Connected(); err != nil {
		return nil, "", err
	}
	return a.entries.Scan(ctx, stream.ScanQuery{From: q.From, To: q.To, Before: q.Before, Limit: q.Limit},
		func(_ uint64, e *sluice.AuditEntry) bool {
			return (q.Username == "" || e.Username == q.Username) && (q.Command == "" || e.Command == q.Command) &&
				(q.Outcome == "" || e.Outcome == q.Outcome)
		})
}
