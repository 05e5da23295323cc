package record

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

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
