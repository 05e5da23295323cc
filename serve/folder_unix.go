//go:build unix

package serve

import (
	"os"
	"syscall"
)

// checkSystem tells whether what is written can be made to survive a power cut.
func checkSystem() error { return nil }

// lockFile locks a file until it is closed, or fails if another process has.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
