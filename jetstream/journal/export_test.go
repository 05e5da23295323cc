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

// CutOff writes what waits, for somebody who goes away meanwhile, and tells what is known then.
func (j *Journal) CutOff(ctx context.Context) {
	_ = j.flush(&leaving{Context: ctx}) // it keeps what it could not write
	j.tellEnds(ctx)
}

// leaving is a context that ends when it is asked for the second time.
type leaving struct {
	context.Context
	asked bool
}

func (c *leaving) Done() <-chan struct{} {
	if !c.asked {
		c.asked = true
		return c.Context.Done()
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

func (c *leaving) Err() error { return context.Canceled }

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
