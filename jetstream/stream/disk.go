package stream

import (
	"context"
	"time"

	"sluice/durable"
)

// diskCheckEvery is short enough that a fast disk, written to at full speed, does
// not fill up between two checks.
const diskCheckEvery = 100 * time.Millisecond

// WatchDisk refuses writes before the disk is full: after one failed write the
// engine accepts nothing more until it is restarted.
func (h *Host) WatchDisk(ctx context.Context, minimum int64) {
	h.checkDisk(minimum)
	h.Every(ctx, diskCheckEvery, func(time.Time) { h.checkDisk(minimum) })
}

func (h *Host) checkDisk(minimum int64) {
	free, err := durable.FreeSpace(h.Dir)
	if err != nil {
		h.Log.Error("Can't tell how much disk space is free.", "error", err)
		return
	}
	low := free < minimum
	if low == h.lowDisk.Swap(low) {
		return
	}
	if low {
		h.Log.Error("Free disk space is below the minimum; refusing new events.", "free", free, "minimum", minimum)
	} else {
		h.Log.Info("Free disk space is sufficient again.", "free", free)
	}
}

// LowDisk reports whether there is too little free disk space to write.
func (h *Host) LowDisk() bool { return h.lowDisk.Load() }
