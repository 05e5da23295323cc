// Package closed keeps the ledger of the times in which no calls were taken. Servers store a
// sign of life every few seconds; where one is missing, a start or a recovery finds a closing.
// server.closed shows them.
package closed

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice"
	"sluice/wait"
)

const (
	every     = 4 * time.Second  // between two signs of life
	otherNode = 10 * time.Second // without a sign of any other node, there is none
	patience  = 10 * time.Second // of senders, of which many wait for no longer
	maxKept   = 500
	timeout   = 5 * time.Second

	heartbeatKey = "heartbeat"
)

// HandOver is the reason of a last sign of life after which another program goes on.
const HandOver = "hand-over"

// Options are what the ledger is made of.
type Options struct {
	Records sluice.Records[sluice.ClosedRecord]
	Ready   func() error                              // nil while calls are taken
	Hours   func(count int) []sluice.Minute           // the figures of the last hours in order
	Retries func(eventKey string) string              // how long its sender tries again; "": there is no such webhook
	Tell    func(ctx context.Context, message string) // is told of each closing
	Several bool                                      // other nodes may take calls
	Queued  bool                                      // callers wait while the server restarts
	Log     *slog.Logger
	Now     func() time.Time // nil: the real clock
}

// A Ledger finds closings and keeps them.
type Ledger struct {
	Options

	began  time.Time // when this server started
	taking time.Time // since when it takes calls; zero: it does not

	uncounted atomic.Pointer[time.Time] // see sluice.Heartbeat
}

// New returns the ledger of a server. Nothing happens until Run runs.
func New(o Options) *Ledger {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Ledger{Options: o, began: o.Now()}
}

// Run stores signs of life until ctx ends.
func (l *Ledger) Run(ctx context.Context) {
	for failed := false; ; {
		err := l.Beat(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			l.Log.Warn("No sign of life can be stored; trying on.", "error", err)
		}
		failed = err != nil
		if wait.For(ctx, every) != nil {
			return
		}
	}
}

// Beat stores a sign of life if calls are taken. If none was taken before, by no node, that
// was a closing.
func (l *Ledger) Beat(ctx context.Context) error {
	now := l.Now().UTC().Truncate(time.Millisecond) // as it is stored, so that the two compare
	if l.Ready() != nil {
		l.taking = time.Time{}
		return nil //nolint:nilerr // the ledger is about this, and has not failed
	}
	if l.taking.IsZero() {
		l.taking = now
	}
	before, err := l.sign(ctx, sluice.Heartbeat{Time: now})
	if err != nil || before == nil {
		return err
	}
	if cause := l.cause(*before); cause != "" {
		return l.enter(ctx, sluice.Closing{From: before.Time, To: l.taking, Cause: cause})
	}
	return nil
}

// Crashed returns the last sign of life of a process that has ended without saying so, before this
// one stores its own. It is remembered, also by the next process, until Counted is called: what the
// crash has taken of the figures is to be counted anew.
func (l *Ledger) Crashed(ctx context.Context) (last time.Time, crashed bool) {
	found, err := l.Records.Get(ctx, heartbeatKey)
	if err != nil || found == nil || found.Heartbeat == nil || l.Several {
		return time.Time{}, false
	}
	last, crashed = found.Heartbeat.Time, found.Heartbeat.Last == ""
	if earlier := found.Heartbeat.Uncounted; !earlier.IsZero() {
		last, crashed = earlier, true
	}
	if crashed {
		l.uncounted.Store(&last)
	}
	return last, crashed
}

// Counted says that what a crash has taken is counted anew.
func (l *Ledger) Counted() { l.uncounted.Store(nil) }

// Doubt says that figures lack something since a time, as after a crash.
func (l *Ledger) Doubt(since time.Time) { l.uncounted.CompareAndSwap(nil, &since) }

// Last stores the last sign of life of this server, from when it took no more connections.
func (l *Ledger) Last(ctx context.Context, at time.Time, why string) error {
	if l.taking.IsZero() {
		return nil // the last one was earlier
	}
	_, err := l.sign(ctx, sluice.Heartbeat{Time: at, Last: why})
	return err
}

// sign replaces the sign of life, and returns the one before.
func (l *Ledger) sign(ctx context.Context, beat sluice.Heartbeat) (before *sluice.Heartbeat, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	beat.Time = beat.Time.UTC().Truncate(time.Millisecond)
	if since := l.uncounted.Load(); since != nil {
		beat.Uncounted = *since
	}
	_, err = l.Records.Change(ctx, heartbeatKey,
		func(found *sluice.ClosedRecord, _ map[string]*sluice.ClosedRecord) (*sluice.ClosedRecord, error) {
			before = nil
			if found != nil {
				before = found.Heartbeat
			}
			return &sluice.ClosedRecord{Heartbeat: &beat}, nil
		})
	return before, err
}

// cause returns why no calls were taken since a sign of life, "" if some were.
func (l *Ledger) cause(before sluice.Heartbeat) string {
	gap := l.taking.Sub(before.Time)
	switch {
	case gap <= 0, l.Several && gap < otherNode:
		return ""
	case before.Last == HandOver || before.Last == sluice.ClosedByStop && l.Queued:
		if gap < patience {
			return "" // callers waited
		}
		return sluice.ClosedByStop
	case before.Last != "":
		return before.Last
	case before.Time.Before(l.began):
		return sluice.ClosedByCrash
	}
	return sluice.ClosedRefusing
}
