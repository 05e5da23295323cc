package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Blocks syncs the message-block files (1.blk, 2.blk, …) of one stream of the
// embedded engine. The engine has written a message to the newest block by the
// time it acknowledges it; Sync makes what was written so far survive a power
// cut.
//
// It is used by one goroutine at a time.
type Blocks struct {
	Dir string // of the stream's messages

	// Rewritten says that the engine also rewrites older blocks, as it does to
	// drop old values of buckets. Then every changed block is synced.
	Rewritten bool

	newest int                 // every block before this one is synced
	file   *os.File            // the newest block, kept between syncs
	synced map[int]fs.FileInfo // the blocks of a rewritten stream as last synced
}

// Sync returns once all that was written before the call is on stable storage.
func (b *Blocks) Sync() error {
	if b.Rewritten {
		return b.syncChanged()
	}
	// Look for the next block before the sync. The other way round, messages
	// that went to this block after its sync and before the next block appeared
	// would never be synced.
	_, err := os.Lstat(b.path(b.newest + 1))
	if errors.Is(err, fs.ErrNotExist) && b.newest > 0 {
		if err = b.syncNewest(); err == nil {
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return b.syncFromNewest()
}

// syncNewest syncs the newest block. The file stays open; its name is checked to
// still lead to it.
func (b *Blocks) syncNewest() error {
	named, err := os.Lstat(b.path(b.newest))
	if err != nil {
		return err
	}
	if b.file != nil {
		if held, err := b.file.Stat(); err == nil && os.SameFile(held, named) {
			return b.file.Sync()
		}
		b.Close()
	}
	if b.file, err = os.Open(b.path(b.newest)); err != nil {
		return err
	}
	return b.file.Sync()
}

// Close closes the newest block.
func (b *Blocks) Close() {
	if b.file != nil {
		_ = b.file.Close() // only read from
		b.file = nil
	}
}

// syncFromNewest syncs the block that was the newest and all later ones, and
// the folder, which has new names in it.
func (b *Blocks) syncFromNewest() error {
	found, err := b.list()
	if err != nil {
		return err
	}
	for _, n := range found {
		if n < b.newest {
			continue
		}
		// A block that retention has removed needs no sync.
		if err := Sync(b.path(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	b.Close()
	b.newest = found[len(found)-1]
	return Sync(b.Dir)
}

// syncChanged syncs each block that has changed since its last sync, and the folder.
func (b *Blocks) syncChanged() error {
	found, err := b.list()
	if err != nil {
		return err
	}
	seen := make(map[int]fs.FileInfo, len(found))
	for _, n := range found {
		info, err := os.Lstat(b.path(n))
		if err == nil && !unchanged(b.synced[n], info) {
			err = Sync(b.path(n))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		seen[n] = info
	}
	b.synced = seen
	return Sync(b.Dir)
}

func unchanged(before, now fs.FileInfo) bool {
	return before != nil && os.SameFile(before, now) &&
		before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// list returns the numbers of the blocks in order. A folder without blocks is an
// error: an engine that keeps its messages elsewhere must not pass for a durable one.
func (b *Blocks) list() ([]int, error) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".blk")
		if n, err := strconv.Atoi(name); ok && err == nil {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no message blocks in %s: the layout of the engine's store is not the expected one", b.Dir)
	}
	slices.Sort(found)
	return found, nil
}

func (b *Blocks) path(n int) string {
	return filepath.Join(b.Dir, strconv.Itoa(n)+".blk")
}
