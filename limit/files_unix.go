//go:build unix

package limit

import (
	"math"
	"syscall"
)

// Files returns how many files and connections this process may have open.
func Files() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(files.Cur)
}
