//go:build !unix

package limit

import "math"

// Files returns how many files and connections this process may have open: here the system
// does not tell.
func Files() int { return math.MaxInt32 }
