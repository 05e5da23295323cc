package jetstream

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// correlationKey gives the key of the correlation ids, which all nodes share.
// The first node of all makes it.
func correlationKey(ctx context.Context, h *stream.Host) ([]byte, error) {
	kv, err := h.OpenBucket(ctx, "keys", 1)
	if err != nil {
		return nil, err
	}
	var entry jetstream.KeyValueEntry
	err = h.Insist(ctx, "the key of the correlation ids", func(ctx context.Context) error {
		fresh := make([]byte, 32)
		_, _ = rand.Read(fresh) // never fails
		if _, err := kv.Create(ctx, "correlation", fresh); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
		entry, err = kv.Get(ctx, "correlation")
		return err
	})
	if err != nil {
		return nil, err
	}
	return entry.Value(), nil
}
