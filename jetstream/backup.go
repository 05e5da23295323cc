package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/journal"
	"sluice/jetstream/snapshot"
	"sluice/jetstream/stream"
)

// backupOrder returns the streams of a backup in the order in which they are copied
// (docs/decisions/0022). A backup shows the moment at which the events are copied.
//
// Streams that refer to events are copied before the events, so that they refer to no event
// outside the backup: another event would get its sequence. Outcomes are copied after the events,
// so that the backup has the outcome of every event that a pipeline had acknowledged by then.
// Low-water marks are copied before their pipelines.
func (e *Engine) backupOrder() []string {
	order := []string{stream.Sealed, e.lowWater.StreamName(), e.keys.StreamName()}
	for _, b := range e.buckets() {
		if b.Name() != e.lowWater.Name() && b.Name() != e.forgotten.Name() {
			order = append(order, b.StreamName())
		}
	}
	ofEvents, loose := journal.Streams()
	order = append(order, ofEvents...)
	if e.host.SoleWriter { // otherwise there are markers among the events
		order = append(order, stream.Deliveries)
	}
	return append(order, stream.Events,
		stream.Waiting, stream.Results, stream.DeadLetters, loose, stream.Quarantine, stream.Audit, e.forgotten.StreamName())
}

// Backup writes all that is stored to a backup while the engine runs.
func (e *Engine) Backup(ctx context.Context, to *backup.Writer) error {
	if err := e.host.Connected(); err != nil {
		return err
	}
	if !e.backing.TryLock() {
		return sluice.Errorf(sluice.CodeBackupRunning, "Another backup is being made; wait until it has ended.")
	}
	defer e.backing.Unlock()
	// With a connection of its own, calls need not wait behind it.
	conn, err := e.server.connection()
	if err != nil {
		return stream.NoAnswer(err)
	}
	defer conn.Close()
	e.Journal.Finish()
	if err := e.lowWater.Write(ctx); err != nil {
		return err
	}
	taker := snapshot.NewTaker(conn, to, e.Stored.writer.Durable)
	for _, name := range e.backupOrder() {
		if err := taker.Take(ctx, name, name == stream.Events); err != nil {
			return fmt.Errorf("backup of %s: %w", name, err)
		}
	}
	return to.End()
}

// ErrLeftBehind says that a failed restore could not delete what it had made.
var ErrLeftBehind = snapshot.ErrLeftBehind

// Restore restores a backup to an empty engine. If it fails, it deletes the streams that it
// has made on an external engine; the caller clears the folder of an embedded one.
func Restore(ctx context.Context, opts Options, from *backup.Reader, erasures []sluice.Erasure) (err error) {
	e := build(opts)
	ctx, e.cancel = context.WithCancel(ctx)
	defer e.Close()
	if err := e.reach(ctx); err != nil {
		return err
	}
	r := snapshot.NewRestoration(e.host, from, stream.Events)
	if err := r.CheckEmpty(ctx, e.backupOrder()); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Undo(ctx))
		}
	}()
	if err := r.Streams(ctx, e.checkStream); err != nil {
		return err
	}
	if err := r.AwaitReplicas(ctx); err != nil {
		return err
	}
	if err := r.Deliveries(ctx); err != nil {
		return fmt.Errorf("deliveries: %w", err)
	}
	if len(erasures) == 0 {
		return nil
	}
	if err := e.setUp(ctx, ctx); err != nil {
		return fmt.Errorf("erasures: %w", err)
	}
	return e.Erasures.Apply(ctx, erasures)
}

// StreamCheck returns a function that refuses the same streams as Restore. With it, a whole backup
// can be checked before it is restored.
func StreamCheck() func(backup.Stream) error {
	return build(Options{Log: slog.New(slog.DiscardHandler)}).checkStream
}

// checkStream refuses a stream that is not part of a backup: it could be another program's.
// A backup has the buckets of one generation, and of an embedded engine also the records of
// deliveries.
func (e *Engine) checkStream(s backup.Stream) error {
	known := s.Name == stream.Deliveries || slices.Contains(e.backupOrder(), s.Name)
	if strings.HasPrefix(s.Name, stream.BucketPrefix) {
		generation, ours := e.generations(nil).Owns(s.Name)
		known = ours && generation != ""
	}
	if !known {
		return snapshot.Foreign("the stream %s", s.Name)
	}
	return snapshot.CheckSubjects(s)
}
