package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

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
	return first(ctx, watch, h.Patience(longestPause), visit)
}

// first visits the values that a watch begins with. The next one may take as long as patience.
func first(
	ctx context.Context, watch jetstream.KeyWatcher, patience time.Duration, visit func(jetstream.KeyValueEntry) error,
) error {
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
			return fmt.Errorf("the watch does not go on: %w", nats.ErrTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// longestPause is how long the next record of a bucket may take. A bucket that
// another node deletes meanwhile has no next one.
const longestPause = 10 * time.Second
