package journal

import (
	"sync/atomic"
	"time"

	"sluice"
)

// allowance bounds what one search may read; a cursor goes on from there.
type allowance struct {
	blocks int64        // of the index
	chunks int64        // of the journal
	window int64        // sequences of what belongs to no event
	bytes  atomic.Int64 // of events
	until  time.Time    // zero: however long it takes
}

func (a *allowance) read(size int) { a.bytes.Add(-int64(size) - 1<<10) }

func (a *allowance) spent() bool {
	return a.blocks <= 0 || a.chunks <= 0 || a.bytes.Load() <= 0 || a.late()
}

func (a *allowance) late() bool { return !a.until.IsZero() && time.Now().After(a.until) }

// textTime is how long a search for a text goes on before it says how far it
// has come: the index doesn't help it, and people wait.
const textTime = 500 * time.Millisecond

func newAllowance(q *sluice.TraceQuery, textTime time.Duration) *allowance {
	a := &allowance{blocks: 4096, chunks: 2000, window: 100_000}
	a.bytes.Store(128 << 20)
	if q.Text != "" {
		a.chunks, a.until = 20_000, time.Now().Add(textTime)
		a.bytes.Store(512 << 20)
	}
	return a
}
