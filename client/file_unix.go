//go:build unix

package client

import (
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, or fails if another process has.
func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
