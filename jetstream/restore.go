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
	"sluice/jetstream/snapshot"
	"sluice/jetstream/stream"
)

// ErrLeftBehind says that a failed restore could not delete what it had made.
var ErrLeftBehind = snapshot.ErrLeftBehind

// Restore restores a backup to an empty engine. If it fails, it deletes the streams that it
// has made on an external engine; the caller clears the folder of an embedded one.
// With paused, all pipelines wait until somebody resumes them.
func Restore(
	ctx context.Context, opts Options, from *backup.Reader, erasures []sluice.Erasure, paused bool,
) (err error) {
	e := build(opts)
	ctx, e.cancel = context.WithCancel(ctx)
	defer e.Close()
	if err := e.reach(ctx); err != nil {
		return err
	}
	r := snapshot.NewRestoration(e.host, from)
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
	if len(erasures) == 0 && !paused {
		return nil
	}
	if err := e.setUp(ctx, ctx); err != nil {
		return fmt.Errorf("what was restored: %w", err)
	}
	if paused {
		if err := e.pauseAll(ctx); err != nil {
			return err
		}
	}
	return e.Erasures.Apply(ctx, erasures)
}

// pauseAll pauses the pipelines that listen.
func (e *Engine) pauseAll(ctx context.Context) error {
	for _, p := range e.Pipelines.All() {
		_, err := sluice.Edit(ctx, e.Pipelines, p.Name, sluice.ErrUnchanged, func(p *sluice.Pipeline) error {
			p.Paused, p.Quiet = p.Binding != nil, p.Binding != nil
			return nil
		})
		if err != nil {
			return fmt.Errorf("pausing %s: %w", p.Name, err)
		}
	}
	return nil
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
