// Package stretch lets tests stretch the time-outs that notice broken machines and networks: cores
// that many tests share are slow, not broken. Time-outs that users set, or that callers rely on,
// stay as they are.
package stretch

import (
	"sync/atomic"
	"time"
)

var factor atomic.Int64 // 0: as if it were 1

// Of returns how long to wait for what must be broken if it takes longer than d.
func Of(d time.Duration) time.Duration { return d * time.Duration(max(1, factor.Load())) }

// By multiplies time-outs from now on, and returns what undoes that. Only tests call
// it: those of a package in TestMain; and with 1 a test that waits for a time-out to
// expire, if it does not run in parallel with others.
func By(times int) (undo func()) {
	before := factor.Swap(int64(times))
	return func() { factor.Store(before) }
}
