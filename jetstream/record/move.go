package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/jetstream/stream"

	"github.com/nats-io/nats.go/jetstream"
)

// move copies all records to another generation, and then makes it the one that
// counts, if the state still has that revision. It returns the new state.
func (g *Generations) move(ctx context.Context, from, to Generation, revision uint64) (moved *state, err error) {
	defer func() {
		if err != nil {
			g.giveUp(context.WithoutCancel(ctx), to)
		}
	}()
	var made []string
	for _, bucket := range g.Buckets {
		copied, err := g.copy(ctx, bucket, from, to)
		if err != nil {
			return nil, fmt.Errorf("moving %s: %w", bucket, err)
		}
		if copied > 0 {
			made = append(made, streamOf(to.bucket(bucket)))
		}
		g.reportf("%s: %d copied", bucket, copied)
	}
	for _, name := range made {
		if err := g.Host.SyncStream(name); err != nil {
			return nil, err
		}
	}
	moved = to.counts(from.streams(g.Buckets))
	if err := g.save(ctx, moved, revision); err != nil {
		return nil, err
	}
	g.reportf("the copies count from now on")
	return moved, nil
}

// longestPause is how long the next record of a bucket may take. A bucket that
// another node deletes meanwhile has no next one.
const longestPause = 10 * time.Second

// copy copies the records of a bucket, and returns how many there were.
func (g *Generations) copy(ctx context.Context, bucket string, from, to Generation) (copied int, err error) {
	records, err := g.Host.Stream(ctx, g.Host.JS, streamOf(from.bucket(bucket)))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	newest, err := g.Host.Follow(ctx, records, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return 0, err
	}
	defer newest.Stop()
	var pending stream.Pending
	for newest.Pending > 0 {
		patient, cancel := context.WithTimeout(ctx, g.Host.Patience(longestPause))
		msg, meta, err := newest.Next(patient)
		cancel()
		if err != nil {
			return copied, err
		}
		if msg == nil {
			break // the rest was removed
		}
		key, document, err := openMessage(from, bucket, msg)
		if err != nil {
			g.Host.Log.Error("A stored record can't be read; it is left out.", "bucket", bucket,
				"revision", meta.Sequence.Stream, "error", err)
		}
		if err != nil || document == nil {
			continue
		}
		if copied++; copied == 1 {
			if _, err := g.Host.OpenBucket(ctx, to.bucket(bucket)); err != nil {
				return copied, err
			}
		}
		if err := pending.Add(ctx, g.Host.JS, newMessage(to, bucket, key, document)); err != nil {
			return copied, err
		}
	}
	return copied, pending.Wait(ctx)
}
