package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows people how far long work has come.
type progress struct {
	bar  *progressbar.ProgressBar // nil if it is not shown
	stop chan struct{}
	done chan struct{}
}

// worthShowing is how many steps make work long.
const worthShowing = 3

// progress shows work of that many steps; -1 means an unknown number.
func (t *terminal) progress(steps int, what string) *progress {
	if !isTerminal(t.err) || steps >= 0 && steps < worthShowing {
		return &progress{}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(t.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0), // we turn it
		progressbar.OptionSetElapsedTime(true),
	}
	if steps >= 0 {
		return &progress{bar: progressbar.NewOptions(steps, append(options, progressbar.OptionShowCount())...)}
	}
	p := &progress{bar: progressbar.NewOptions(-1, append(options, progressbar.OptionSpinnerType(14))...)}
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go p.turn()
	return p
}

// turn shows that the program is alive.
func (p *progress) turn() {
	defer close(p.done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_ = p.bar.Add(1) // fails if it can't be shown
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
	}
}

// step notes that a step is done.
func (p *progress) step() { p.steps(1) }

// steps notes that some steps are done, if their number is known.
func (p *progress) steps(done int) {
	if p.bar != nil && p.stop == nil {
		_ = p.bar.Add(done)
	}
}

// end takes the progress off the screen. It may be called twice.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	if p.stop != nil {
		close(p.stop)
		<-p.done
	}
	_ = p.bar.Clear()
	p.bar, p.stop = nil, nil
}

// transfer shows how many of all bytes have come. An all of 0 means that reachOf
// tells it later, and -1 that nobody knows it.
func (t *terminal) transfer(all int64, what string) *progress {
	if !isTerminal(t.err) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions64(max(all, -1),
		progressbar.OptionSetWriter(t.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
	)}
}

// reach notes how many bytes have come.
func (p *progress) reach(done int64) {
	if p.bar != nil {
		_ = p.bar.Set64(done) // fails if it can't be shown
	}
}

// reachOf notes how many of all bytes have come.
func (p *progress) reachOf(done, all int64) {
	if p.bar != nil && p.bar.GetMax64() != all {
		p.bar.ChangeMax64(all)
	}
	p.reach(done)
}
