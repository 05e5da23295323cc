package journal

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/limit"
)

// What tests must know of the journal.
const (
	Indexed    = indexed
	MaxRefused = maxRefused
)

// SetTextTime sets how long a search for a text goes on.
func (j *Journal) SetTextTime(d time.Duration) { j.textTime = d }

// Forget empties all that is kept beside the events.
func (j *Journal) Forget(ctx context.Context) error {
	for _, name := range []string{stream.Journal, stream.Loose, stream.Index} {
		s, err := j.host.JS.Stream(ctx, name)
		if err != nil {
			return err
		}
		if err := s.Purge(ctx); err != nil {
			return err
		}
	}
	j.index.mu.Lock()
	defer j.index.mu.Unlock()
	clear(j.index.blocks)
	j.index.recent = limit.NewCache[uint64, *entries](indexRecent)
	return nil
}

// ForgetBlock empties a block of the index.
func (j *Journal) ForgetBlock(ctx context.Context, number uint64) error {
	s, err := j.host.JS.Stream(ctx, stream.Index)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(indexSubject(number)))
}
