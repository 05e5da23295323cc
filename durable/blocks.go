package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Blocks syncs the message-block files (1.blk, 2.blk, …) of one stream of the
// embedded engine. The engine has written a message to the newest block by the
// time it acknowledges it; Sync makes what was written so far survive a power
// cut.
//
// The newest block and the folder stay open between syncs: a descriptor from before
// a write is told of its failure even if the engine's own sync was told first, and a
// process that has run out of descriptors can go on syncing.
type Blocks struct {
	Dir string // of the stream's messages

	// Rewritten says that the engine also rewrites older blocks, as it does to
	// drop old values of buckets. Then every changed block is synced.
	Rewritten bool

	mu     sync.Mutex          // held while syncing
	newest int                 // every block before this one is synced
	file   *os.File            // the newest block
	folder *os.File            // Dir
	synced map[int]fs.FileInfo // the blocks of a rewritten stream as last synced
}

// Sync returns once all that was written before the call is on stable storage.
func (b *Blocks) Sync() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Rewritten || b.newest == 0 {
		return b.syncChanged()
	}
	// Look for the next block before the sync. The other way round, messages
	// that went to this block after its sync and before the next block appeared
	// would never be synced.
	_, err := os.Lstat(b.path(b.newest + 1))
	if errors.Is(err, fs.ErrNotExist) {
		if err = b.syncBlock(b.newest, true); err == nil {
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return b.syncChanged()
}

// syncBlock syncs a block, and keeps it open if it is the newest. The name of an open
// block is checked to still lead to it.
func (b *Blocks) syncBlock(n int, newest bool) error {
	file := b.file
	if n != b.newest || !isNamed(file, b.path(n)) {
		var err error
		if file, err = open(b.path(n)); err != nil {
			return err
		}
	}
	err := file.Sync()
	switch {
	case newest && file != b.file:
		closeRead(b.file)
		b.file = file
	case !newest && file != b.file:
		closeRead(file)
	}
	return err
}

// isNamed reports whether a name leads to an open file, which may be nil.
func isNamed(file *os.File, name string) bool {
	if file == nil {
		return false
	}
	held, err := file.Stat()
	named, noName := os.Lstat(name)
	return err == nil && noName == nil && os.SameFile(held, named)
}

// closeRead closes a file that was only read from and synced; it may be nil.
func closeRead(file *os.File) {
	if file != nil {
		_ = file.Close() // nothing is lost by an error
	}
}

// Close closes what is open. A later Sync opens it again.
func (b *Blocks) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	closeRead(b.file)
	closeRead(b.folder)
	b.file, b.folder = nil, nil
}

// syncChanged syncs the block that was the newest and all later ones, or each changed block of a
// rewritten stream; and the folder, for new names in it.
func (b *Blocks) syncChanged() error {
	found, err := b.list()
	if err != nil {
		return err
	}
	newest := found[len(found)-1]
	seen := make(map[int]fs.FileInfo, len(found))
	for _, n := range found {
		if !b.Rewritten && n < b.newest {
			continue
		}
		info, err := os.Lstat(b.path(n))
		if err == nil && (!b.Rewritten || !unchanged(b.synced[n], info)) {
			err = b.syncBlock(n, n == newest)
		}
		// A block that the engine has removed needs no sync.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		seen[n] = info
	}
	b.synced, b.newest = seen, newest
	return b.folder.Sync()
}

func unchanged(before, now fs.FileInfo) bool {
	return before != nil && os.SameFile(before, now) &&
		before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// list returns the numbers of the blocks in order. A folder without blocks is an
// error: an engine that keeps its messages elsewhere must not pass for a durable one.
func (b *Blocks) list() ([]int, error) {
	names, err := b.names()
	if err != nil {
		return nil, err
	}
	var found []int
	for _, file := range names {
		name, ok := strings.CutSuffix(file, ".blk")
		if n, err := strconv.Atoi(name); ok && err == nil {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no message blocks in %s: the layout of the engine's store is not the expected one",
			b.Dir)
	}
	slices.Sort(found)
	return found, nil
}

// names returns the names in the folder, which stays open. The engine may have put
// another folder in its place.
func (b *Blocks) names() ([]string, error) {
	if !isNamed(b.folder, b.Dir) {
		folder, err := open(b.Dir)
		if err != nil {
			return nil, err
		}
		closeRead(b.folder)
		b.folder = folder
	}
	if _, err := b.folder.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return b.folder.Readdirnames(-1)
}

func (b *Blocks) path(n int) string { return filepath.Join(b.Dir, strconv.Itoa(n)+".blk") }
