//go:build unix

package durable

import (
	"math"
	"os"
	"syscall"
)

// checkSystem fails where files can't be made to survive a power cut.
func checkSystem() error { return nil }

// syncNames makes the names in a folder survive a power cut.
func syncNames(dir string) error { return Sync(dir) }

// TryLock locks a file until Unlock, or fails if another process has locked it.
// The lock of a process that has died is free.
func TryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// Unlock frees the lock of a file and closes the file. A close alone would leave the lock
// to a process that was forked a moment ago and has not begun its own program yet.
func Unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}

// FreeSpace returns what is free on the volume of a folder.
func FreeSpace(dir string) (Space, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return Space{}, err
	}
	bytes := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	free := Space{Bytes: bytes, Files: math.MaxInt64}
	// Some file systems have no bound.
	if st.Files > 0 {
		free.Files = int64(st.Ffree)
	}
	return free, nil
}
