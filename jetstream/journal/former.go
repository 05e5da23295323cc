package journal

import (
	"context"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// Former implements sluice.Journal.
func (j *Journal) Former(ctx context.Context, since time.Time) iter.Seq2[sluice.Call, error] {
	return func(yield func(sluice.Call, error) bool) {
		for _, in := range []jetstream.Stream{j.chunks, j.loose} {
			for l, err := range j.formerLines(ctx, in, since) {
				if c, ok := l.former(); (ok || err != nil) && !yield(c, err) {
					return
				}
			}
		}
	}
}

// formerLines returns what earlier processes have written to a stream since a time.
func (j *Journal) formerLines(ctx context.Context, in jetstream.Stream, since time.Time) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		first, _, err := j.newSearch(sluice.TraceQuery{From: since}).between(ctx, in)
		if err != nil {
			yield(line{}, err)
			return
		}
		name := in.CachedInfo().Config.Name
		for msg, err := range j.host.All(ctx, name, stream.Range{Sequence: first, Count: 100}) {
			switch {
			case err != nil:
				yield(line{}, err)
				return
			case msg.Sequence > j.former[name]:
				return
			}
			for _, l := range parseLines(msg.Data) {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// former returns the run or the rejected call that a line is about. An event in whose place another one ran has none.
func (l line) former() (c sluice.Call, ok bool) {
	run, isRun := l.run()
	if o, ok := decode[runOutcome](l, lineOutcome); ok && !o.Time.IsZero() {
		run, isRun = o.report(), true
	}
	if isRun {
		c.Runs = []sluice.RunReport{run}
		return c, run.Status != sluice.StatusSuperseded
	}
	c, ok = decode[sluice.Call](l, lineCall)
	return c, ok && l.sequence == 0
}
