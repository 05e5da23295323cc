package jetstream

import (
	"context"
	"time"
)

// diskCheckEvery is short enough that a fast disk, written to at full speed, does
// not fill up between two looks.
const diskCheckEvery = 100 * time.Millisecond

// watchDisk refuses writes before the disk is full: after one failed write the
// engine takes nothing more until it is restarted.
func (e *Engine) watchDisk(ctx context.Context) {
	every(ctx, diskCheckEvery, func(time.Time) { e.checkDisk() })
}

func (e *Engine) checkDisk() {
	free, err := freeDisk(e.opts.Dir)
	if err != nil {
		e.log.Error("Can't tell how much disk space is free.", "error", err)
		return
	}
	low := free < e.opts.MinFreeDisk
	if low == e.lowDisk.Swap(low) {
		return
	}
	if low {
		e.log.Error("Free disk space is below the minimum; refusing new events.", "free", free, "minimum", e.opts.MinFreeDisk)
	} else {
		e.log.Info("Free disk space is sufficient again.", "free", free)
	}
}
