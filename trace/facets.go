package trace

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"sluice"
)

const (
	// maxCounted bounds the calls that are counted, and maxFacets the values of
	// each kind that are listed.
	maxCounted, maxFacets = 500, 12
)

// countFacets counts the newest calls of a search.
func (o Options) countFacets(ctx context.Context, q sluice.TraceQuery) (*sluice.Facets, error) {
	q.Limit, q.Before = maxCounted, ""
	calls, next, err := o.Journal.Calls(ctx, q)
	if err != nil {
		return nil, err
	}
	webhooks, types, pipelines, statuses, codes := tally{}, tally{}, tally{}, tally{}, tally{}
	for _, c := range calls {
		if c.ReplayOf != "" {
			continue // it is no call
		}
		of := max(1, c.Count)
		webhooks[c.EventKey] += of
		types[c.Type] += of
		statuses[string(c.Status)] += of
		codes[c.Code] += of
		ran, failed := map[string]bool{}, map[string]bool{} // a call counts once, however many attempts there were
		for _, run := range c.Own() {
			ran[run.Pipeline] = true
			if run.Error != nil {
				failed[run.Error.Code] = true
			}
		}
		for name := range ran {
			pipelines[name]++
		}
		for code := range failed {
			codes[code]++
		}
	}
	f := &sluice.Facets{
		Calls: len(calls), More: next != "", Webhooks: webhooks.largest(), Types: types.largest(),
		Pipelines: pipelines.largest(), Statuses: statuses.largest(), Codes: codes.largest(),
	}
	if len(calls) > 0 {
		f.Since = &calls[len(calls)-1].Time
	}
	return f, nil
}

// A tally counts values.
type tally map[string]int

// largest returns the values with the highest counts, without the empty one.
func (counts tally) largest() []sluice.Facet {
	delete(counts, "")
	found := make([]sluice.Facet, 0, len(counts))
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		found = append(found, sluice.Facet{Value: value, Count: counts[value]})
	}
	slices.SortStableFunc(found, func(a, b sluice.Facet) int { return cmp.Compare(b.Count, a.Count) })
	return found[:min(len(found), maxFacets)]
}
