package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/durable"
)

// health is whether a host can be used, and why not.
type health struct {
	ready   chan struct{}          // closed once set up
	problem atomic.Value           // string: why it is not set up yet
	lowDisk atomic.Pointer[string] // what there is too little of
	late    atomic.Int32           // writers whose batches take longer than calls wait for

	refusing atomic.Bool  // the external engine takes no writes
	wrote    atomic.Int64 // when it last took one, in nanoseconds
	doubtful atomic.Bool  // since then it has left one unanswered

	failOnce sync.Once
	failed   chan struct{} // closed when it can't go on
	failure  error
}

// SetUp is closed once the host can be used.
func (h *Host) SetUp() <-chan struct{} { return h.ready }

// IsSetUp reports whether the host can be used, or could be before.
func (h *Host) IsSetUp() bool {
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}

// SetReady marks the host as usable.
func (h *Host) SetReady() { close(h.ready) }

// SetProblem sets the reason why the host can't be used yet.
func (h *Host) SetProblem(reason string) { h.problem.Store(reason) }

// Failed is closed when the engine can't go on and the process must restart;
// Failure then says why.
func (h *Host) Failed() <-chan struct{} { return h.failed }

// Failure reports why the engine can't go on.
func (h *Host) Failure() error { return h.failure }

// Fail stops all writing for good. After a failed sync nobody knows what is on
// the disk; only a restart reads it back.
func (h *Host) Fail(err error) {
	h.failOnce.Do(func() {
		h.failure = err
		close(h.failed)
		if h.Reopened {
			h.Log.Error("The spool has failed; it takes no calls until it is open again.", "error", err)
			return
		}
		h.Log.Error("The engine can't go on; the process must end.", "error", err)
	})
}

// Ready returns nil when the engine can take writes, otherwise an Unavailable
// error that says why not.
func (h *Host) Ready() error {
	if err := h.Connected(); err != nil {
		return err
	}
	switch {
	case h.LowDisk():
		return sluice.Passing(sluice.CodeDiskFull, *h.lowDisk.Load())
	case h.late.Load() > 0:
		return sluice.Passing(sluice.CodeDiskSlow, "The disk takes longer than calls wait for.")
	case h.refusing.Load():
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine takes no events at the moment.")
	}
	return nil
}

// Connected returns nil when the engine can be read.
func (h *Host) Connected() error {
	select {
	case <-h.failed:
		return h.hasFailed()
	default:
	}
	if !h.IsSetUp() {
		return sluice.Passing(sluice.CodeEngineUnavailable, "Not ready: "+h.problem.Load().(string)+".")
	}
	if h.Link != nil && !h.Link.Up() {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The connection to the engine is lost.")
	}
	return nil
}

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
