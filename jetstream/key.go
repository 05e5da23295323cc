package jetstream

import (
	"context"
	"crypto/rand"
	"errors"

	"sluice"
	"sluice/jetstream/record"
)

// correlationKey returns the key of the correlation ids, which all nodes share.
// The first node of all makes it.
func correlationKey(ctx context.Context, keys *record.Bucket[record.Key]) ([]byte, error) {
	_, err := keys.ChangeEarly(ctx, record.CorrelationKey, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
		if before != nil {
			return nil, sluice.ErrUnchanged
		}
		fresh := make([]byte, 32)
		_, _ = rand.Read(fresh) // never fails
		return &record.Key{Key: fresh}, nil
	})
	if err != nil && !errors.Is(err, sluice.ErrUnchanged) {
		return nil, err
	}
	return keys.Copy(record.CorrelationKey).Key, nil
}
