//go:build unix

package client

import (
	"os"
	"syscall"
)

// tryLock takes the lock of a file, which its closing frees.
func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// SyncFolder lets the names in a folder survive a power cut.
func SyncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
