package record

import (
	"fmt"
	"sync/atomic"

	"sluice"
)

// A Budget bounds the bytes of the records in several buckets, since all of them are in
// memory. Each node has its own.
type Budget struct {
	Max     int64 // 0: any number
	used    atomic.Int64
	refused atomic.Int64 // records
}

// Used returns the bytes of all records.
func (b *Budget) Used() int64 { return b.used.Load() }

// Refused returns how many records had no room since the start.
func (b *Budget) Refused() int64 { return b.refused.Load() }

// Warning returns a text for the operator when little is left, otherwise "".
func (b *Budget) Warning() string {
	const near = 8 // of which one part is left
	if used := b.used.Load(); b.Max > 0 && used > b.Max/near*(near-1) {
		return fmt.Sprintf("records take %d of the %d KiB that they may: soon no more are stored; delete some, or "+
			"give the server a larger --memory-limit", used>>10, b.Max>>10)
	}
	return ""
}

// small is how large a record may become by a change although the budget is used up, so that
// its uses can be noted.
const small = 1 << 10

// Within makes the records of a bucket count in a budget. It comes before SetUp.
func (d *documents) Within(budget *Budget) { d.budget = budget }

// fits refuses a record for which the budget has no room. What becomes shorter always fits.
func (d *documents) fits(key string, size int) error {
	if d.budget == nil {
		return nil
	}
	d.mu.RLock()
	before := d.sizes[key]
	d.mu.RUnlock()
	if size <= before || before > 0 && size <= small || d.budget.Max == 0 ||
		d.budget.used.Load()+int64(size-before) <= d.budget.Max {
		return nil
	}
	d.budget.refused.Add(1)
	return sluice.CodeTooManyRecords.Errorf("Webhooks, pipelines with their versions, users, roles, clients "+
		"and secrets take as much as they may, %d MiB; delete some, or give the server a larger --memory-limit.",
		d.budget.Max>>20)
}

// weigh notes the size of a record that is in the copy now, or 0 of one that is no longer. The caller must
// hold the lock.
func (d *documents) weigh(key string, size int) {
	if d.budget != nil {
		d.budget.used.Add(int64(size - d.sizes[key]))
	}
	if d.sizes[key] = size; size == 0 {
		delete(d.sizes, key)
	}
}
