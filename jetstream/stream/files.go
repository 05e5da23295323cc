package stream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/durable"
)

// Blocks returns the message blocks of one of the embedded engine's streams, nil if we don't
// sync them. Messages may be removed from the middle of a stream that is rewritten.
func (h *Host) Blocks(stream string, rewritten bool) *durable.Blocks {
	if !h.Syncs(stream) {
		return nil
	}
	return &durable.Blocks{Dir: filepath.Join(h.StreamFolder(stream), "msgs"), Rewritten: rewritten}
}

// SyncLater syncs the blocks of a stream for which nobody waits: within a second of a call of
// written, until ctx ends. The blocks may be nil.
func (h *Host) SyncLater(ctx context.Context, blocks *durable.Blocks, what string) (written func()) {
	if blocks == nil {
		return func() {}
	}
	var dirty atomic.Bool
	h.Every(ctx, time.Second, func(time.Time) {
		if dirty.Swap(false) {
			if err := blocks.Sync(); err != nil {
				h.Fail(fmt.Errorf("sync of %s: %w", what, err))
			}
		}
	})
	context.AfterFunc(ctx, blocks.Close)
	return func() { dirty.Store(true) }
}

// StreamFolder returns the folder of one of the embedded engine's streams.
func (h *Host) StreamFolder(stream string) string {
	return filepath.Join(h.Dir, "jetstream", "$G", "streams", stream)
}

// RemoveFiles removes the files of a deleted stream. The embedded engine removes them later,
// or never if it is killed before.
func (h *Host) RemoveFiles(stream string) error {
	if h.Dir == "" {
		return nil
	}
	folder := h.StreamFolder(stream)
	return errors.Join(os.RemoveAll(folder), os.RemoveAll(filepath.Join(filepath.Dir(folder), "."+stream)))
}

// SyncStream puts a folder of one of the embedded engine's streams on stable
// storage.
func (h *Host) SyncStream(stream string, below ...string) error {
	return h.SyncStore(append([]string{"jetstream", "$G", "streams", stream}, below...)...)
}

// SyncStore puts a folder of the embedded engine's store on stable storage, with the names
// of the folder and of those above it.
func (h *Host) SyncStore(folders ...string) error {
	if !h.Syncs("") {
		return nil
	}
	folder := h.Dir
	var err error
	for _, below := range folders {
		err = errors.Join(err, durable.Sync(folder))
		folder = filepath.Join(folder, below)
	}
	if err = errors.Join(err, durable.SyncTree(folder)); err != nil {
		h.Fail(fmt.Errorf("sync of the store: %w", err))
		return sluice.Passing(sluice.CodeEngineFailed, "The change could not be made durable.").Because(err)
	}
	return nil
}
