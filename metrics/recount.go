package metrics

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/wait"
)

// recountMargin is how far clocks may have been off.
const recountMargin = 15 * time.Minute

// Recount returns a function that counts what a process that crashed may not have counted: the calls and
// runs around its end, and the calls of hours in which some were not done. isFormer reports whether a call
// came before this process, and repaired returns when the calls came that replays have repaired
// shortly before its end, once the journal knows that. Until the function has ended, the ends of
// calls wait, and nothing is stored; the same end that is told later is not counted again. The
// function reports whether it came to its end.
func (m *Minutes) Recount(
	journal sluice.Journal, isFormer func(correlationID string) bool,
	repaired func(context.Context) []time.Time, crashed time.Time,
) func(ctx context.Context) (done bool) {
	m.recounting.Lock()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = []sluice.CallEnd{}
	return func(ctx context.Context) bool {
		defer m.recounting.Unlock()
		open := make(map[string]sluice.Status) // by trace id
		done, tries := true, recountTries
		for _, p := range m.doubtful(crashed, repaired(ctx)) {
			err := m.recount(ctx, journal, isFormer, p, open)
			for ; err != nil && tries > 0 && wait.For(ctx, recountPause) == nil; tries-- { // such as a full disk
				err = m.recount(ctx, journal, isFormer, p, open)
			}
			if done = done && err == nil; err != nil && ctx.Err() == nil {
				m.log.Warn("Figures around a crash can't be counted anew; the next start tries again.",
					"since", p.from, "error", err)
			}
		}
		m.mu.Lock()
		late := m.late
		m.late, m.recounted = nil, open
		m.mu.Unlock()
		for _, end := range late {
			m.Settled(end)
		}
		time.AfterFunc(toldLate, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.recounted = nil
		})
		return done && ctx.Err() == nil
	}
}

// An engine that can't store figures is given this many more tries with a pause before each. No figures are
// stored meanwhile.
const recountTries, recountPause = 60, time.Second

// toldLate is how long after a call has ended it may be told of.
const toldLate = 30 * time.Second

// isFormer reports whether the end of a call waits for a recount, or was part of it. No time tells which
// calls are those of an earlier process: the clock may have been set.
func (m *Minutes) isFormer(end sluice.CallEnd) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.late != nil {
		m.late = append(m.late, end)
		return true
	}
	status, counted := m.recounted[end.TraceID]
	return counted && (status == end.Status || status == sluice.StatusRecovered)
}

// A period is some hours whose figures are in doubt.
type period struct {
	from, to time.Time
	ended    bool // the crash was in it, so it may lack runs and rejected calls
}

// doubtful returns the periods whose figures are in doubt: the hours since a crash, and before them those in
// which some calls were not done, or were repaired.
func (m *Minutes) doubtful(crashed time.Time, repaired []time.Time) []period {
	m.storing.Lock()
	defer m.storing.Unlock()
	if now := time.Now(); crashed.After(now) {
		crashed = now // by a clock that was set back since
	}
	from := crashed.Add(-recountMargin).UTC().Truncate(time.Hour)
	earlier := make(map[time.Time]bool)
	for _, at := range repaired {
		earlier[at.UTC().Truncate(time.Hour)] = true
	}
	for _, stored := range m.hours.store.All() {
		f := stored.CallFigures
		f.Add(*cmp.Or(stored.Events, new(sluice.CallFigures)))
		if f.Accepted > f.OK+f.Error+f.Recovered {
			earlier[stored.Time] = true
		}
	}
	periods := []period{{from, from.Add(hoursKept * time.Hour), true}} // a clock may have been ahead
	for hour := range earlier {
		if hour.Before(from) {
			periods = append(periods, period{hour, hour.Add(time.Hour), false})
		}
	}
	return periods
}

// has reports whether a time is within a period.
func (p period) has(at time.Time) bool {
	return !at.Before(p.from) && at.Before(p.to)
}

// recount replaces the figures of the calls of a period. It notes the state of each call that may
// still change.
func (m *Minutes) recount(
	ctx context.Context, journal sluice.Journal, isFormer func(string) bool, p period,
	open map[string]sluice.Status,
) error {
	sums := &Minutes{Expects: m.Expects, counted: make(map[time.Time]*sluice.Minute)}
	newest := make(map[string][]sluice.Call) // kinds and times of calls, by event key
	q := sluice.TraceQuery{From: p.from.Add(-time.Minute), To: p.to.Add(time.Minute), Limit: 1000}
	for more := true; more; more = q.Before != "" {
		calls, next, err := journal.Calls(ctx, q)
		if err != nil {
			return err
		}
		q.Before = next
		for i := range calls {
			c := &calls[i]
			if c.Split == nil && c.Origin == nil && c.ReplayOf == "" && c.CorrelationID != "" &&
				isFormer(c.CorrelationID) && p.has(callTime(c.TraceID, c.Time)) {
				open[c.TraceID] = c.Status
				if sums.again(c); !c.Sent {
					newest[c.EventKey] = append(newest[c.EventKey], sluice.Call{Type: c.Type, Time: c.Time})
				}
			}
		}
	}
	if p.ended {
		if err := m.recountEnded(ctx, journal, p, sums); err != nil {
			return err
		}
	}
	return m.replace(ctx, sums.counted, newest)
}

// recountEnded counts the runs and the rejected calls of a period. Runs are those that ended in it, whenever their
// events came.
func (m *Minutes) recountEnded(ctx context.Context, journal sluice.Journal, p period, sums *Minutes) error {
	for c, err := range journal.Former(ctx, p.from) {
		if err != nil {
			return err
		}
		for _, run := range c.Runs {
			if !p.has(run.Ended()) {
				continue
			}
			if sums.Run(run); m.FormerRun != nil && run.Status != sluice.StatusPassed {
				m.FormerRun(run)
			}
		}
		if c.Runs == nil && c.Split == nil && p.has(callTime(c.TraceID, c.Time)) {
			for range max(1, c.Count) {
				sums.Call(c)
			}
		}
	}
	return nil
}

// again counts a call, or an event that no call set off, with what became of it.
func (m *Minutes) again(c *sluice.Call) {
	end := sluice.CallEnd{EventKey: c.EventKey, TraceID: c.TraceID, Status: c.Status, Sent: c.Sent}
	if c.Sent {
		m.Sent(c.TraceID)
	} else {
		m.Call(*c)
	}
	if c.Status != sluice.StatusProcessing && c.Status != sluice.StatusRetrying {
		m.Settled(end)
	}
	if c.Status == sluice.StatusRecovered { // it was an error first
		end.Status = sluice.StatusError
		m.Settled(end)
	}
}

// replace stores counts in place of those that are stored. Where those are more, the journal no
// longer has all calls, and they stay. The kinds of a day are not counted anew: those of the newest calls are
// added, of as many as were not stored.
func (m *Minutes) replace(
	ctx context.Context, counted map[time.Time]*sluice.Minute, newest map[string][]sluice.Call,
) error {
	m.storing.Lock()
	defer m.storing.Unlock()
	hours := newSeries(m.hours.store, time.Hour, hoursKept)
	minutes := newSeries(m.minutes.store, time.Minute, minutesKept)
	for _, minute := range counted {
		minute.Latencies, minute.Types = trimmed(minute.Latencies), nil
		hours.wait(minute)
		minute.Webhooks = nil
		minutes.wait(minute)
	}
	for _, s := range []*series{hours, minutes} {
		for _, sum := range s.pending {
			missed, err := s.raise(ctx, sum)
			if err != nil {
				return err
			}
			kinds := sluice.Minute{Time: sum.Time}
			for key, n := range missed {
				for _, c := range newest[key][:min(n, len(newest[key]))] {
					if c.Type != "" {
						addType(&kinds, key, c.Type, sluice.TypeFigures{Calls: 1, Last: c.Time})
					}
				}
			}
			m.days.wait(&kinds)
		}
	}
	return m.days.flush(ctx)
}

// raise replaces what is stored of the calls of a period by a sum of at least as many, and raises the counts of
// runs and rejected calls to those of the sum. It returns how many more the accepted calls of webhooks are.
func (s *series) raise(ctx context.Context, sum *sluice.Minute) (missed map[string]int, err error) {
	err = s.change(ctx, sum.Time, func(stored *sluice.Minute) {
		missed = make(map[string]int)
		raised := sluice.Minute{Time: stored.Time, Last: stored.Last}
		addTo(&raised, stored)
		if sum.Accepted >= stored.Accepted {
			raised.CallFigures, raised.Latencies = sum.CallFigures, sum.Latencies
		}
		raised.Rejected = max(sum.Rejected, stored.Rejected)
		raised.Unavailable = max(sum.Unavailable, stored.Unavailable)
		raiseRuns(&raised, sum)
		if sum.Events != nil && (stored.Events == nil || sum.Events.Accepted >= stored.Events.Accepted) {
			raised.Events = sum.Events
		}
		for key, figures := range sum.Webhooks {
			known := raised.Webhooks[key]
			if figures.Accepted < known.Accepted {
				continue
			}
			if raised.Webhooks == nil {
				raised.Webhooks = make(map[string]sluice.WebhookFigures)
			}
			missed[key] = figures.Accepted - known.Accepted
			figures.Rejected = max(figures.Rejected, known.Rejected)
			figures.Expected = known.Expected || figures.Expected
			figures.Last = later(figures.Last, known.Last)
			raised.Webhooks[key] = figures
		}
		*stored = raised
	})
	return missed, err
}

// raiseRuns raises the runs of one sum to those of another. In a full hour, those of further pipelines are among the
// runs without a name.
func raiseRuns(raised, sum *sluice.Minute) {
	raised.Runs, raised.RunErrors = max(raised.Runs, sum.Runs), max(raised.RunErrors, sum.RunErrors)
	if raised.Pipelines == nil {
		raised.Pipelines = make(map[string]sluice.RunFigures, len(sum.Pipelines))
	}
	for name, runs := range sum.Pipelines {
		known, isNamed := raised.Pipelines[name]
		if isNamed || len(raised.Pipelines) < maxNamed {
			known.Runs, known.Errors = max(known.Runs, runs.Runs), max(known.Errors, runs.Errors)
			known.Passed = max(known.Passed, runs.Passed)
			raised.Pipelines[name] = known
		}
	}
}
