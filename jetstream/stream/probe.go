package stream

import (
	"context"
	"errors"
	"time"

	"sluice/wait"
)

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
		if wait.For(ctx, time.Until(began.Add(probeEvery))) != nil {
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

// Wrote notes that the engine has just agreed on a write.
func (h *Host) Wrote() {
	h.wrote.Store(time.Now().UnixNano())
	h.doubtful.Store(false)
}

// Doubt notes that the engine has left a write unanswered.
func (h *Host) Doubt() { h.doubtful.Store(true) }

// Doubtful reports whether a write was left unanswered and none was taken since.
func (h *Host) Doubtful() bool { return h.doubtful.Load() }
