package stream

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/stretch"
)

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

// Patience returns how long the engine may take for something that mostly takes so long.
func (h *Host) Patience(mostly time.Duration) time.Duration {
	return h.engine.patience(stretch.Of(mostly), h.IsSetUp())
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

const (
	// With probeEvery and probeTimeout, it takes less than two seconds to notice that
	// an engine takes no writes.
	probeEvery   = 500 * time.Millisecond
	probeTimeout = time.Second
	// A server is left after so many failed probes in a row. One that does not even
	// answer a ping is left soon. One that does may be cut off from the others: it is
	// left when an election should be over.
	leaveSilent, leaveCutOff = 2, 15
)

// A probe checks again and again whether an external engine takes writes.
type probe struct {
	host   *Host
	write  func(context.Context) error
	failed int // in a row
}

// A finding is what a probe has found.
type finding struct {
	alive bool // the server that this node is connected to answers
	err   error
}

// WatchWrites makes Ready report whether the engine takes writes, until ctx ends: write finds
// that out. A server that does not answer is left for another one.
func (h *Host) WatchWrites(ctx context.Context, write func(context.Context) error) {
	p := &probe{host: h, write: write}
	h.Start(func() { p.run(ctx) })
}

func (p *probe) run(ctx context.Context) {
	var pending chan finding // of a probe that is under way
	for {
		began := time.Now()
		if pending == nil {
			pending = make(chan finding, 1)
			p.host.Start(func() { pending <- p.ask(ctx) })
		}
		found := finding{err: errors.New("the engine does not answer")}
		select {
		case found = <-pending:
			pending = nil
		case <-time.After(probeTimeout):
		case <-ctx.Done():
			return
		}
		p.note(found, began)
		select {
		case <-time.After(time.Until(began.Add(probeEvery))):
		case <-ctx.Done():
			return
		}
	}
}

// ask makes one probe. It may take longer than probeTimeout, because the client library
// does not look at the clock while it writes or connects.
func (p *probe) ask(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := p.host.Conn.FlushWithContext(ctx); err != nil {
		return finding{err: err}
	}
	return finding{alive: true, err: p.write(ctx)}
}

// note acts on what a probe has found that began at a time.
func (p *probe) note(found finding, began time.Time) {
	h := p.host
	if found.err != nil && h.wrote.Load() >= began.UnixNano() {
		found.err = nil // another write got through meanwhile
	}
	if found.err == nil {
		if p.failed > 0 {
			h.Log.Info("The engine takes events again.")
		}
		p.failed = 0
		h.doubtful.Store(false)
		h.refusing.Store(false)
		return
	}
	if p.failed++; p.failed == 1 {
		h.Log.Warn("The engine takes no events at the moment.", "error", found.err)
	}
	h.refusing.Store(true)
	leave := leaveSilent
	if found.alive {
		leave = leaveCutOff
	}
	if h.Link.connected() && p.failed%leave == 0 {
		h.Log.Warn("The engine's server does not serve; going to another one.", "answers", found.alive)
		h.Link.Cut()
	}
}

// Wrote notes that the engine has just agreed on a write.
func (h *Host) Wrote() {
	h.wrote.Store(time.Now().UnixNano())
	h.doubtful.Store(false)
}

// Doubt notes that the engine has left a write unanswered.
func (h *Host) Doubt() { h.doubtful.Store(true) }

// Doubtful reports whether a write was left unanswered and none was taken since.
func (h *Host) Doubtful() bool { return h.doubtful.Load() }

// jitter returns a duration between half and one and a half of d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }
