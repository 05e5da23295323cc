package stream

import (
	"context"
	"time"

	"sluice/durable"
)

// diskCheckEvery is so short that even a fast disk does not fill up between two checks.
const diskCheckEvery = 100 * time.Millisecond

// WatchDisk refuses writes before the disk is full: after one failed write the engine
// accepts nothing more until a restart.
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
	problem := shortage(free, minimum)
	if before := h.lowDisk.Swap(&problem); problem == *before {
		return
	}
	if problem != "" {
		h.Log.Error(problem+" New events are refused.", "free", free.Bytes, "minimum", minimum, "files", free.Files)
	} else {
		h.Log.Info("Free disk space is sufficient again.", "free", free.Bytes, "files", free.Files)
	}
}

// minFreeFiles is how many files the volume must be able to take: more than streams,
// pipelines and a new key make between two checks.
const minFreeFiles = 512

// shortage says what there is too little of to write, "" if there is enough.
func shortage(free durable.Space, minimum int64) string {
	switch {
	case free.Bytes < minimum:
		return "Free disk space is below the configured minimum."
	case free.Files < minFreeFiles:
		return "The disk can take hardly any more files: its inodes are used up."
	}
	return ""
}

// LowDisk reports whether there is too little free disk space to write.
func (h *Host) LowDisk() bool { return *h.lowDisk.Load() != "" }
