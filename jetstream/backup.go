package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/queue"
	"sluice/jetstream/snapshot"
	"sluice/jetstream/stream"
	"sluice/journal"
)

// backupOrder returns the streams of a backup in the order in which they are taken
// (docs/decisions/0022). The moment of a backup is that of the stream of events.
//
// Streams that refer to events are copied before the events, so that they refer to no
// event that is not in the backup: its sequence would be used again. What came of events comes
// behind them, so that whatever a pipeline has acknowledged by then waits for
// another attempt, or has its outcome there. Floors come before the pipelines they are of.
func (e *Engine) backupOrder() []string {
	order := []string{stream.Sealed, e.floors.StreamName(), e.keys.StreamName()}
	for _, b := range e.buckets() {
		if b.Name() != e.floors.Name() {
			order = append(order, b.StreamName())
		}
	}
	ofEvents, loose := journal.Streams()
	order = append(order, ofEvents...)
	if e.host.SoleWriter { // otherwise markers among the events tell the same
		order = append(order, stream.Deliveries)
	}
	return append(order, stream.Events,
		queue.WaitingStream, queue.OutcomeStream, stream.DeadLetters, loose, stream.Quarantine, stream.Audit)
}

// Backup writes all that is stored to a backup, while the engine goes on.
func (e *Engine) Backup(ctx context.Context, to *backup.Writer) error {
	if err := e.host.Connected(); err != nil {
		return err
	}
	if !e.backing.TryLock() {
		return sluice.Errorf(sluice.CodeBackupRunning, "Another backup is being made; wait until it has ended.")
	}
	defer e.backing.Unlock()
	// A connection of its own: calls must not wait behind it.
	conn, err := e.server.connection()
	if err != nil {
		return stream.NoAnswer(err)
	}
	defer conn.Close()
	e.journal.Finish()
	if err := e.floors.Write(ctx); err != nil {
		return err
	}
	taker := snapshot.NewTaker(conn, to, e.events.writer.Durable)
	for _, name := range e.backupOrder() {
		if err := taker.Take(ctx, name, name == stream.Events); err != nil {
			return fmt.Errorf("backup of %s: %w", name, err)
		}
	}
	return to.End()
}

// ErrLeftBehind is that of a restore which failed and could not delete what it had made.
var ErrLeftBehind = snapshot.ErrLeftBehind

// Restore makes an engine that has nothing yet what a backup says. If it fails, the
// streams that it has made on an external engine are deleted; the folder of an
// embedded one is the caller's to clear.
func Restore(ctx context.Context, opts Options, from *backup.Reader) (err error) {
	e := build(opts)
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(ctx)
	e.cancel = cancel
	defer e.Close()
	if err := e.server.connect(); err != nil {
		return err
	}
	if err := e.awaitExternal(ctx); err != nil {
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
	return nil
}

// StreamCheck returns a function that refuses streams which Restore refuses, so that a
// backup can be checked as a whole before anything is made of it.
func StreamCheck() func(backup.Stream) error {
	return build(Options{Log: slog.New(slog.DiscardHandler)}).checkStream
}

// checkStream refuses a stream that no backup has: one of another program may have
// that name, or listen to those subjects. A backup has the buckets of the generation
// that counted where it was made, and records of deliveries if that was embedded.
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

// awaitExternal returns when an external engine can be used, or why it can't.
func (e *Engine) awaitExternal(ctx context.Context) (err error) {
	const patience, pause = 10 * time.Second, 200 * time.Millisecond
	for deadline := time.Now().Add(patience); ; {
		if err = e.server.usable(ctx); err == nil || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	if err != nil {
		return sluice.Errorf(sluice.CodeEngineUnavailable, "It can't be restored: %s.", explain(err, e.host.Conn)).Because(err)
	}
	return nil
}
