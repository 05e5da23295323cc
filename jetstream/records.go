package jetstream

import (
	"context"
	"encoding/base64"
)

// records implements sluice.Records on a bucket. Keys are stored in base64,
// since the engine's can't have every character that names may have.
type records[T any] struct {
	bucket *bucket[T]
}

func (r records[T]) Get(ctx context.Context, key string) (*T, error) {
	return r.bucket.get(ctx, encodeKey(key))
}

func (r records[T]) All() []*T {
	r.bucket.mu.RLock()
	defer r.bucket.mu.RUnlock()
	all := make([]*T, 0, len(r.bucket.records))
	for _, record := range r.bucket.records {
		all = append(all, record)
	}
	return all
}

func (r records[T]) Changed() <-chan struct{} {
	r.bucket.mu.RLock()
	defer r.bucket.mu.RUnlock()
	return r.bucket.moved
}

func (r records[T]) Change(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error) {
	return r.bucket.change(ctx, encodeKey(key), decide)
}

func encodeKey(key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(key))
}
