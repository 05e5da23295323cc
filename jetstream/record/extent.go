package record

import (
	"context"
)

// An Extent is how much a bucket has in it.
type Extent struct {
	Bucket   string `json:"-"` // as the engine names it
	Revision uint64 `json:"revision"`
	Records  int    `json:"records"`
	Spoiled  bool   `json:"spoiled,omitempty"` // by the disk: an earlier value may stand for a lost one
}

// Extent returns how much the bucket has in it, once that is on stable storage.
func (b *Bucket[T]) Extent(ctx context.Context) (Extent, error) {
	b.mu.RLock()
	e := Extent{Bucket: b.in.bucket(b.name), Revision: b.applied, Records: len(b.records)}
	b.mu.RUnlock()
	if b.disk != nil && e.Revision > b.flushed.Load() {
		if err := b.disk.Flush(ctx); err != nil {
			return Extent{}, err
		}
		b.flushed.Store(e.Revision)
	}
	return e, nil
}
