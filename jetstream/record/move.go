package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// move copies all records to another generation, and then makes it the one that
// counts, if the state still has that revision.
func (g *Generations) move(ctx context.Context, from, to Generation, revision uint64) (err error) {
	defer func() {
		if err != nil {
			g.giveUp(context.WithoutCancel(ctx), to)
		}
	}()
	var made []string
	for _, bucket := range g.Buckets {
		copied, err := g.copy(ctx, bucket, from, to)
		if err != nil {
			return fmt.Errorf("moving %s: %w", bucket, err)
		}
		if copied > 0 {
			made = append(made, streamOf(to.bucket(bucket)))
		}
		g.reportf("%s: %d copied", bucket, copied)
	}
	for _, name := range made {
		if err := g.Host.SyncStream(name); err != nil {
			return err
		}
	}
	if err := g.save(ctx, to.counts(from.streams(g.Buckets)), revision); err != nil {
		return err
	}
	g.reportf("the copies count from now on")
	return nil
}

// copy copies the records of a bucket, and returns how many there were.
func (g *Generations) copy(ctx context.Context, bucket string, from, to Generation) (copied int, err error) {
	const atOnce = 256
	var pending []jetstream.PubAckFuture
	settle := func() error {
		for _, future := range pending {
			select {
			case <-future.Ok():
			case err := <-future.Err():
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		pending = pending[:0]
		return nil
	}
	err = each(ctx, g.Host, from.bucket(bucket), func(entry jetstream.KeyValueEntry) error {
		record, err := openRecord[json.RawMessage](from, bucket, entry.Key(), entry.Value())
		if err != nil {
			g.Host.Log.Error("A stored record can't be read; it is left out.", "bucket", bucket, "revision", entry.Revision(), "error", err)
			return nil
		}
		if copied == 0 {
			if _, err := g.Host.OpenBucket(ctx, to.bucket(bucket), history); err != nil {
				return err
			}
		}
		msg, err := newMessage(to, bucket, record)
		if err != nil {
			return err
		}
		future, err := g.Host.JS.PublishMsgAsync(msg)
		if err != nil {
			return err
		}
		copied++
		if pending = append(pending, future); len(pending) == atOnce {
			return settle()
		}
		return nil
	})
	return copied, errors.Join(err, settle())
}

// each visits the records of a bucket of the engine, if there is one.
func each(ctx context.Context, h *stream.Host, bucket string, visit func(jetstream.KeyValueEntry) error) error {
	kv, err := h.JS.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	watch, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }() // ends with the connection at the latest
	patience := h.Patience(longestPause)
	pause := time.NewTimer(patience)
	defer pause.Stop()
	for {
		pause.Reset(patience)
		select {
		case entry, ok := <-watch.Updates():
			switch {
			case !ok:
				return errors.New("the watch ended early")
			case entry == nil:
				return nil
			}
			if err := visit(entry); err != nil {
				return err
			}
		case <-pause.C:
			return errors.New("the engine does not go on with its records")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// longestPause is how long the next record of a bucket may take. A bucket that
// another node deletes meanwhile has no next one.
const longestPause = 10 * time.Second

// giveUp deletes what a failed move has made. A later clean deletes what giveUp
// could not.
func (g *Generations) giveUp(ctx context.Context, to Generation) {
	if s, err := g.load(ctx); err != nil || s != nil && s.Generation == to.id {
		return // it may count after all
	}
	for _, name := range to.streams(g.Buckets) {
		if err := g.drop(ctx, name); err != nil {
			g.Host.Log.Warn("What a move of records has left behind could not be deleted yet.", "error", err)
			return
		}
	}
}

// clean deletes all that does not count, whether a move was interrupted before or after its copies
// counted. It first stores the names of the buckets it will delete. So a move by another node
// fails, instead of making deleted buckets count.
func (g *Generations) clean(ctx context.Context, s *state) error {
	left, err := g.leftovers(ctx, s)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		s.Drop = append(s.Drop, left...)
		if err := g.save(ctx, s, s.revision); err != nil {
			return err
		}
	}
	if len(s.Drop) == 0 {
		return nil
	}
	g.reportf("deleting what does not count")
	for _, name := range s.Drop {
		if _, ours := g.Owns(name); !ours {
			continue // the state may be from a backup, which may come from anywhere
		}
		if err := g.drop(ctx, name); err != nil {
			return err
		}
	}
	g.reportf("deleted")
	s.Drop = nil
	if err := g.save(ctx, s, s.revision); err != nil && !stream.WasConflict(err) {
		return err
	}
	return nil
}

var generationEnd = regexp.MustCompile(`-([0-9a-f]{12})$`)

// Owns reports whether a stream is that of a bucket, and of which generation: "" if
// another program has made the bucket.
func (g *Generations) Owns(name string) (generation string, ours bool) {
	bucket, ours := strings.CutPrefix(name, stream.BucketPrefix)
	if match := generationEnd.FindStringSubmatch(bucket); match != nil {
		bucket, generation = strings.TrimSuffix(bucket, match[0]), match[1]
	}
	return generation, ours && slices.Contains(g.Buckets, bucket)
}

// leftovers names the streams of other generations than the one that counts.
func (g *Generations) leftovers(ctx context.Context, s *state) (left []string, err error) {
	names := g.Host.JS.StreamNames(ctx)
	for name := range names.Name() {
		generation, ours := g.Owns(name)
		if ours && generation != "" && generation != s.Generation && !slices.Contains(s.Drop, name) {
			left = append(left, name)
		}
	}
	return left, names.Err()
}

// drop deletes a stream with its files.
func (g *Generations) drop(ctx context.Context, name string) error {
	if err := g.Host.JS.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	return g.Host.RemoveFiles(name)
}
