package metrics

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"time"

	"sluice"
)

// A series has the sums of equal periods. The store has a fixed number of records, one for
// each period that is kept. Every node adds to them.
type series struct {
	store   sluice.Records[sluice.Minute]
	prefix  string // of keys, in a store that several share
	period  time.Duration
	kept    int                          // periods
	pending map[time.Time]*sluice.Minute // counts that are not stored yet, by the start of their period
	tried   map[time.Time]addition       // counts that may be stored
	node    string
}

// An addition is a sum with a name of its own: whoever is not told whether it was stored finds that
// out by the name.
type addition struct {
	name string
	sum  *sluice.Minute
}

func newSeries(store sluice.Records[sluice.Minute], period time.Duration, kept int) *series {
	return &series{
		store: store, period: period, kept: kept, pending: map[time.Time]*sluice.Minute{},
		tried: map[time.Time]addition{}, node: rand.Text(),
	}
}

// wait queues the counts of a minute for storing.
func (s *series) wait(minute *sluice.Minute) {
	start := minute.Time.Truncate(s.period)
	sum := s.pending[start]
	if sum == nil {
		sum = &sluice.Minute{Time: start}
		s.pending[start] = sum
	}
	addTo(sum, minute)
}

// flush stores the queued counts. Those that fail stay queued while their periods are kept.
func (s *series) flush(ctx context.Context) error {
	for len(s.pending)+len(s.tried) > 0 {
		for start, sum := range s.pending {
			if _, before := s.tried[start]; !before {
				s.tried[start] = addition{rand.Text(), sum}
				delete(s.pending, start)
			}
		}
		for start, a := range s.tried {
			if err := s.add(ctx, a); err != nil {
				first := time.Now().Add(-time.Duration(s.kept) * s.period)
				maps.DeleteFunc(s.tried, func(start time.Time, _ addition) bool { return start.Before(first) })
				return err
			}
			delete(s.tried, start)
		}
	}
	return nil
}

// add adds a sum to the record of its period, once.
func (s *series) add(ctx context.Context, a addition) error {
	return s.change(ctx, a.sum.Time, func(stored *sluice.Minute) {
		if stored.Last[s.node] == a.name {
			return
		}
		addTo(stored, a.sum)
		stored.Last = maps.Clone(stored.Last)
		if stored.Last == nil {
			stored.Last = map[string]string{}
		}
		stored.Last[s.node] = a.name
	})
}

// change changes the record of a period. It overwrites that of a period that is no longer kept or,
// by a clock that was wrong, has not come yet, and does nothing about a period that is no longer kept.
func (s *series) change(ctx context.Context, start time.Time, change func(stored *sluice.Minute)) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	key := s.prefix + strconv.FormatInt(start.Unix()/int64(s.period/time.Second)%int64(s.kept), 10)
	_, err := sluice.Replace(ctx, s.store, key, func(before *sluice.Minute) (*sluice.Minute, error) {
		after := sluice.Minute{Time: start}
		switch {
		case before != nil && before.Time.After(start) && !before.Time.After(time.Now()):
			return before, nil
		case before != nil && before.Time.Equal(start):
			after = *before
		}
		change(&after)
		return &after, nil
	})
	return err
}

// last returns the last sums in order, with queued and current counts. What came while a clock was
// ahead is part of the current one.
func (s *series) last(count int, counted map[time.Time]*sluice.Minute) []sluice.Minute {
	sums := make([]sluice.Minute, min(count, s.kept))
	first := time.Now().UTC().Truncate(s.period).Add(-time.Duration(len(sums)-1) * s.period)
	for i := range sums {
		sums[i].Time = first.Add(time.Duration(i) * s.period)
	}
	for _, part := range s.parts(counted) {
		if i := indexOf(sums, s.period, part.Time); i >= 0 {
			part := *part
			part.Types = nil // those are shown by themselves
			addTo(&sums[i], &part)
		}
	}
	return sums
}

// parts returns all that is stored, queued or current.
func (s *series) parts(counted map[time.Time]*sluice.Minute) []*sluice.Minute {
	stored := s.store.All()
	parts := slices.AppendSeq(slices.AppendSeq(stored, maps.Values(s.pending)), maps.Values(counted))
	for _, a := range s.tried {
		isStored := func(stored *sluice.Minute) bool { return stored.Last[s.node] == a.name }
		if !slices.ContainsFunc(stored, isStored) {
			parts = append(parts, a.sum)
		}
	}
	return parts
}

// indexOf returns the index of the period of a time, -1 if that was before all periods. Times to come
// belong to the last one.
func indexOf(sums []sluice.Minute, period time.Duration, at time.Time) int {
	if at.Before(sums[0].Time) {
		return -1
	}
	return min(int(at.Sub(sums[0].Time)/period), len(sums)-1)
}

// storedLate is how much later than an event's end other nodes may store what became of it.
const storedLate = 2 * flushEvery

// complete puts each accepted call of some periods into one state. Those that are neither
// done nor tried again are in progress. Once all events of a period are done, none of its calls
// is: then the counts of some ends were lost in a crash, or an earlier version kept none.
func complete(sums []sluice.Minute, period time.Duration, u sluice.Unfinished) {
	if len(sums) == 0 {
		return
	}
	retrying := make(map[int]map[string]int) // by index and event key
	events := make(map[int]int)
	for _, call := range u.Retrying {
		i := indexOf(sums, period, call.Time)
		if i < 0 {
			continue
		}
		if call.EventKey == "" {
			events[i] += call.Count
			continue
		}
		if retrying[i] == nil {
			retrying[i] = map[string]int{}
		}
		key := call.EventKey
		if _, known := sums[i].Webhooks[key]; !known {
			key = ""
		}
		retrying[i][key] += call.Count
	}
	if u.Since.IsZero() {
		u.Since = time.Now()
	}
	for i := range sums {
		sum := &sums[i]
		over := sum.Time.Add(period).Before(u.Since.Add(-storedLate))
		waiting := 0
		for _, n := range retrying[i] {
			waiting += n
		}
		place(&sum.CallFigures, waiting, over)
		if sum.Events == nil {
			sum.Events = new(sluice.CallFigures)
		}
		place(sum.Events, events[i], over)
		for key, of := range sum.Webhooks {
			place(&of.CallFigures, retrying[i][key], over)
			sum.Webhooks[key] = of
		}
	}
}

// place puts each accepted call into one state. The end of a call may be counted before
// the call itself, so that there may seem to be too many ends.
func place(f *sluice.CallFigures, retrying int, over bool) {
	f.Error = max(0, f.Error)
	open := max(0, f.Accepted-f.OK-f.Error-f.Recovered)
	f.Retrying = min(retrying, open)
	if over {
		f.OK += open - f.Retrying
	} else {
		f.Processing = open - f.Retrying
	}
	f.Accepted = f.Processing + f.Retrying + f.OK + f.Error + f.Recovered
}

// addTo adds the counts of one sum to another. It copies lists and maps, which stored records
// may share.
func addTo(sum, other *sluice.Minute) {
	sum.Add(other.CallFigures)
	if other.Events != nil {
		events := *other.Events
		if sum.Events != nil {
			events.Add(*sum.Events)
		}
		sum.Events = &events
	}
	sum.Unavailable += other.Unavailable
	sum.Runs += other.Runs
	sum.RunErrors += other.RunErrors
	latencies := make([]int, max(len(sum.Latencies), len(other.Latencies)))
	copy(latencies, sum.Latencies)
	for i, n := range other.Latencies {
		latencies[i] += n
	}
	sum.Latencies = latencies
	addTypes(sum, other)
	if len(other.Pipelines) > 0 {
		pipelines := make(map[string]sluice.RunFigures, len(sum.Pipelines)+len(other.Pipelines))
		maps.Copy(pipelines, sum.Pipelines)
		for name, runs := range other.Pipelines {
			addRuns(pipelines, name, runs)
		}
		sum.Pipelines = pipelines
	}
	if len(other.Webhooks) == 0 {
		return
	}
	webhooks := make(map[string]sluice.WebhookFigures, len(sum.Webhooks)+len(other.Webhooks))
	maps.Copy(webhooks, sum.Webhooks)
	for key, figures := range other.Webhooks {
		key = countedAs(webhooks, key, figures.Expected)
		of := webhooks[key]
		of.Expected = of.Expected || figures.Expected && key != ""
		of.Add(figures.CallFigures)
		of.Last = later(of.Last, figures.Last)
		of.LastAccepted = later(of.LastAccepted, figures.LastAccepted)
		webhooks[key] = of
	}
	sum.Webhooks = webhooks
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
