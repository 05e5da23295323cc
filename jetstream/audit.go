package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sort"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	auditSubject  = "svc.audit"
	auditMaxAge   = 365 * 24 * time.Hour
	auditMaxBytes = 1 << 30
	// maxScan bounds the entries that one query reads; a cursor goes on from
	// there.
	maxScan = 10_000
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
	info, err := a.stream.Info(ctx)
	if err != nil {
		return nil, "", unavailable("engine-unavailable", "The engine did not answer.").Because(err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	switch {
	case q.Before != "":
		before, err := strconv.ParseUint(q.Before, 10, 64)
		if err != nil || before == 0 {
			e := sluice.Errorf(sluice.Invalid, "parameter-invalid", "The parameter after must be the cursor of a page before.")
			e.Parameter = "after"
			return nil, "", e
		}
		last = min(last, before-1)
	case !q.To.IsZero():
		last = a.lastUntil(ctx, first, last, q.To)
	}
	for sequence := last; sequence >= first && sequence > 0; sequence-- {
		if len(entries) == q.Limit || last-sequence == maxScan {
			return entries, strconv.FormatUint(sequence+1, 10), nil
		}
		entry, err := a.entry(ctx, sequence)
		if err != nil {
			return nil, "", err
		}
		if entry == nil {
			continue
		}
		if entry.Time.Before(q.From) {
			break
		}
		if matches(*entry, q) {
			entries = append(entries, *entry)
		}
	}
	return entries, "", nil
}

// lastUntil gives the sequence of the newest entry that is not after a time.
// Entries are stored in the order of their times.
func (a *Audit) lastUntil(ctx context.Context, first, last uint64, to time.Time) uint64 {
	n := sort.Search(int(last+1-first), func(i int) bool {
		entry, err := a.entry(ctx, first+uint64(i))
		return err == nil && entry != nil && entry.Time.After(to)
	})
	return first + uint64(n) - 1
}

// entry reads one entry, nil if retention has removed it.
func (a *Audit) entry(ctx context.Context, sequence uint64) (*sluice.AuditEntry, error) {
	msg, err := a.stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable("engine-unavailable", "The engine did not answer.").Because(err)
	}
	var e sluice.AuditEntry
	return &e, json.Unmarshal(msg.Data, &e)
}

func matches(e sluice.AuditEntry, q sluice.AuditQuery) bool {
	return (q.Username == "" || e.Username == q.Username) &&
		(q.Command == "" || e.Command == q.Command) &&
		(q.To.IsZero() || !e.Time.After(q.To))
}
