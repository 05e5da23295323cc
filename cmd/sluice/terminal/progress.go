package terminal

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Progress shows people how far long work has come.
type Progress struct {
	Done int64 // bytes that were written to it

	bar  *progressbar.ProgressBar // nil if it is not shown
	stop chan struct{}            // ends the turning of an unknown number of steps; nil if the number is known
	done chan struct{}
}

// worthShowing is how many steps make work long.
const worthShowing = 3

// Progress shows work of that many steps; -1 means an unknown number.
func (t *Terminal) Progress(steps int, what string) *Progress {
	if steps >= 0 && steps < worthShowing {
		return &Progress{}
	}
	options := []progressbar.Option{
		progressbar.OptionSetSpinnerChangeInterval(0), // we turn it
		progressbar.OptionSetElapsedTime(true),
	}
	if steps >= 0 {
		return t.bar(int64(steps), what, append(options, progressbar.OptionShowCount())...)
	}
	p := t.bar(-1, what, append(options, progressbar.OptionSpinnerType(14))...)
	if p.bar != nil {
		p.stop, p.done = make(chan struct{}), make(chan struct{})
		go p.turn()
	}
	return p
}

// Transfer shows how many of all bytes have come. An all of 0 means that Reach is told later, and
// -1 that nobody knows it.
func (t *Terminal) Transfer(all int64, what string) *Progress {
	return t.bar(all, what, progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond))
}

func (t *Terminal) bar(all int64, what string, options ...progressbar.Option) *Progress {
	if !IsTerminal(t.Err) {
		return &Progress{}
	}
	return &Progress{bar: progressbar.NewOptions64(all, append(options,
		progressbar.OptionSetWriter(t.Err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30))...)}
}

// turn shows that the program is alive.
func (p *Progress) turn() {
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

// Steps notes that some steps are done, if their number is known.
func (p *Progress) Steps(done int) {
	if p.bar != nil && p.stop == nil {
		_ = p.bar.Add(done)
	}
}

// End takes the progress off the screen. It may be called twice.
func (p *Progress) End() {
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

// Write notes that bytes have come.
func (p *Progress) Write(content []byte) (int, error) {
	p.Done += int64(len(content))
	if p.bar != nil {
		_ = p.bar.Set64(p.Done) // fails if it can't be shown
	}
	return len(content), nil
}

// Reach notes how many of all bytes have come.
func (p *Progress) Reach(done, all int64) {
	if p.bar == nil {
		return
	}
	if p.bar.GetMax64() != all {
		p.bar.ChangeMax64(all)
	}
	_ = p.bar.Set64(done) // fails if it can't be shown
}
