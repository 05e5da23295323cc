package jetstream

import (
	"context"
	"crypto/rand"
	"errors"

	"sluice"
	"sluice/jetstream/record"
)

// sharedKey returns a key that all nodes share, such as that of the correlation
// ids. The first node of all makes it.
func sharedKey(ctx context.Context, keys *record.Bucket[record.Key], name string) ([]byte, error) {
	_, err := keys.ChangeEarly(ctx, name, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
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
	return keys.Copy(name).Key, nil
}
