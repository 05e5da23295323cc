// Package closed keeps the ledger of the times in which no calls were taken. Servers store a
// sign of life every few seconds; where one is missing, a start or a recovery finds a closing.
// server.closed shows them.
package closed

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/command"
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
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
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
	_, err = l.Records.Change(ctx, heartbeatKey, func(found *sluice.ClosedRecord, _ map[string]*sluice.ClosedRecord) (*sluice.ClosedRecord, error) {
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

// enter stores a closing and tells of it.
func (l *Ledger) enter(ctx context.Context, c sluice.Closing) error {
	c.Webhooks = l.webhooks(c)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := l.Records.Change(ctx, closingKey(c), func(*sluice.ClosedRecord, map[string]*sluice.ClosedRecord) (*sluice.ClosedRecord, error) {
		return &sluice.ClosedRecord{Closing: &c}, nil
	})
	l.Tell(ctx, describe(c))
	for i, old := range l.closings(time.Time{}) {
		if i >= maxKept && err == nil {
			err = sluice.Remove(ctx, l.Records, closingKey(old))
		}
	}
	return err
}

func closingKey(c sluice.Closing) string { return strconv.FormatInt(c.From.UnixMilli(), 10) }

// describe says what was missed, and by whom.
func describe(c sluice.Closing) string {
	var lost []string
	for _, w := range c.Webhooks {
		if w.Retries == "none" {
			lost = append(lost, w.EventKey)
		}
	}
	text := fmt.Sprintf("No calls were taken for %s, from %s to %s (%s).", c.To.Sub(c.From).Round(time.Second), c.From.Format("2 January, 15:04:05"), c.To.Format("15:04:05 UTC"), c.Cause)
	if len(lost) > 0 {
		text += " The senders of these webhooks don't try again: " + strings.Join(lost, ", ") + "; webhook.missed finds what they sent, where the sender can be asked."
	}
	return text
}

const (
	week    = 7 * 24 * time.Hour
	weeks   = 4
	history = 30 * 24 // hours: as many as there are
)

// webhooks returns the webhooks that may have missed calls, those whose senders don't try
// again first.
func (l *Ledger) webhooks(c sluice.Closing) []sluice.ClosedWebhook {
	hours := make(map[time.Time]sluice.Minute)
	for _, hour := range l.Hours(history) {
		hours[hour.Time] = hour
	}
	found := make(map[string]*sluice.ClosedWebhook)
	note := func(hour time.Time) map[string]sluice.WebhookFigures {
		for key := range hours[hour].Webhooks {
			if retries := l.Retries(key); found[key] == nil && retries != "" {
				found[key] = &sluice.ClosedWebhook{EventKey: key, Retries: retries}
			}
		}
		return hours[hour].Webhooks
	}
	first := c.From.Truncate(time.Hour)
	note(first)
	note(c.From.Add(-time.Hour).Truncate(time.Hour))
	sums, counted := make(map[string]int), make(map[string]int)
	for hour := first; hour.Before(c.To) && hour.Sub(first) < week; hour = hour.Add(time.Hour) {
		for back := 1; back <= weeks; back++ {
			for key, figures := range note(hour.Add(-time.Duration(back) * week)) {
				sums[key] += figures.Accepted + figures.Rejected
				counted[key]++
			}
		}
	}
	all := make([]sluice.ClosedWebhook, 0, len(found))
	for key, w := range found {
		if n := counted[key]; n > 0 {
			w.Usual = (sums[key] + n - 1) / n
		}
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b sluice.ClosedWebhook) int {
		return cmp.Or(cmp.Compare(tries(a), tries(b)), cmp.Compare(b.Usual, a.Usual), cmp.Compare(a.EventKey, b.EventKey))
	})
	return all
}

// tries orders senders: those that never try again come first, then unknown ones, then the rest.
func tries(w sluice.ClosedWebhook) int {
	switch w.Retries {
	case "none":
		return 0
	case "unknown":
		return 1
	}
	return 2
}

// closings returns the closings that ended at a time or later, newest first.
func (l *Ledger) closings(from time.Time) []sluice.Closing {
	found := []sluice.Closing{}
	for _, r := range l.Records.All() {
		if r.Closing != nil && !r.Closing.To.Before(from) {
			found = append(found, *r.Closing)
		}
	}
	slices.SortFunc(found, func(a, b sluice.Closing) int { return b.From.Compare(a.From) })
	return found
}

type params struct {
	From  time.Time `json:"from" doc:"Only times that lasted until then or longer."`
	Limit int       `json:"limit" min:"1" max:"500" doc:"At most this many. Default 100."`
}

const defaultLimit = 100

// Commands returns the command that shows the ledger.
func Commands(l *Ledger) []command.Command {
	return []command.Command{command.New("server.closed", "Show the times in which no calls were taken, newest first, and the webhooks that may have missed some. A first start and a hand-over to a new program are none.",
		func(_ context.Context, p params) (sluice.List[sluice.Closing], error) {
			found := l.closings(p.From)
			return sluice.List[sluice.Closing]{Items: found[:min(len(found), cmp.Or(p.Limit, defaultLimit))]}, nil
		}, command.ReadOnly, command.Global)}
}
