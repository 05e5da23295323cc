package jetstream

import (
	"context"
	"fmt"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/snapshot"
	"sluice/jetstream/stream"
)

// backupOrder returns the streams of a backup in the order in which they are copied
// (docs/decisions/0022). A backup shows the moment at which the events are copied.
//
// Streams that refer to events are copied before the events, so that they refer to no event
// outside the backup: another event would get its sequence. Outcomes are copied after the events,
// so that the backup has the outcome of every event that a pipeline had acknowledged by then, and so is what
// waits: an event may have been acknowledged for that.
// Low-water marks are copied before their pipelines.
func (e *Engine) backupOrder() []string {
	order := []string{stream.Sealed, e.Queue.LowWater.StreamName(), e.keys.StreamName()}
	for _, b := range e.all {
		if b.Name() != e.Queue.LowWater.Name() && b.Name() != e.forgotten.Name() {
			order = append(order, b.StreamName())
		}
	}
	order = append(order, stream.Journal, stream.Index)
	if e.host.SoleWriter { // otherwise there are markers among the events
		order = append(order, stream.Deliveries)
	}
	return append(order, stream.Events,
		stream.Waiting, stream.Results, stream.DeadLetters, stream.Loose, stream.Quarantine, stream.Audit,
		e.forgotten.StreamName())
}

// Backup writes all that is stored to a backup while the engine runs.
func (e *Engine) Backup(ctx context.Context, to *backup.Writer) error {
	if err := e.host.Connected(); err != nil {
		return err
	}
	if !e.backing.TryLock() {
		return sluice.CodeBackupRunning.Errorf("Another backup is being made; wait until it has ended.")
	}
	defer e.backing.Unlock()
	// With a connection of its own, calls need not wait behind it.
	conn, err := e.server.connection()
	if err != nil {
		return stream.NoAnswer(err)
	}
	defer conn.Close()
	e.Journal.Finish()
	if err := e.Queue.LowWater.Write(ctx); err != nil {
		return err
	}
	copier := snapshot.NewCopier(conn, to, e.Stored.stream.Durable)
	for _, name := range e.backupOrder() {
		if err := copier.Copy(ctx, name); err != nil {
			return fmt.Errorf("backup of %s: %w", name, err)
		}
	}
	return to.End()
}
