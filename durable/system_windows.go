package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// checkSystem says that what is written can't be made to survive a power cut:
// Windows syncs files, but not the names in folders, so a new file may be
// lost with all that was synced to it. A 200 would promise too much.
func checkSystem() error {
	return errors.New("on Windows the server can't keep data of its own: there is no way to make new files survive a " +
		"power cut. Run it on Linux, or give an external engine with --nats; everything else that sluice does works " +
		"here")
}

// syncNames does nothing: Windows has no call for it.
func syncNames(string) error { return nil }

// TryLock locks a file until Unlock, or fails if another process has locked it.
// The lock of a process that has died is free.
func TryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}

// Unlock frees the lock of a file and closes the file.
func Unlock(f *os.File) { _ = f.Close() }

// FreeSpace is never called: there is no data folder.
func FreeSpace(string) (Space, error) { return Space{}, errors.ErrUnsupported }
