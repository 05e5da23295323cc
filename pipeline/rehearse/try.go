package rehearse

import (
	"context"
	"time"

	"sluice"
)

const (
	// maxTryTime is how long one call goes on before it answers with a cursor.
	maxTryTime = 10 * time.Second
	// tryPage is how many calls are in memory at the same time: each may have
	// made many exchanges with others.
	tryPage = 5
	// maxTryItems is how many events are shown, and maxTryCalls what was done for
	// one of them.
	maxTryItems, maxTryCalls = 20, 20
)

// Try tries a draft on the events of a query, one after the other, and compares
// what it would make of them with what was made of them. Next of the result says
// where to go on if it took too long.
func (s Stage) Try(ctx context.Context, draft Draft, q sluice.TraceQuery) (sluice.TryResult, error) {
	t := &Rehearsal{Stage: s, draft: draft}
	result, wanted, end := sluice.TryResult{Items: []sluice.TryItem{}}, q.Limit, time.Now().Add(maxTryTime)
	for {
		q.Limit = min(tryPage, wanted-result.Tried())
		calls, next, err := s.Journal.Calls(ctx, q)
		if err != nil {
			return result, err
		}
		for i := range calls {
			if calls[i].CorrelationID == "" || calls[i].ReplayOf != "" && q.TraceID == "" {
				continue // it made no event, or one that was there before
			}
			item, err := t.on(ctx, &calls[i])
			if err != nil && sluice.AsError(err).Kind != sluice.Gone {
				return result, err
			}
			if err == nil {
				tally(&result, item, q.TraceID != "")
			}
		}
		q.Before, result.Next = next, next
		if next == "" || result.Tried() >= wanted || time.Now().After(end) {
			break
		}
	}
	return result, nil
}

// tally adds an event to a result, also one of which nothing changes if all are
// shown.
func tally(result *sluice.TryResult, item sluice.TryItem, all bool) {
	counter := map[sluice.Verdict]*int{
		sluice.TrySame: &result.Same, sluice.TryDiffers: &result.Differs, sluice.TryFails: &result.Fails, sluice.TryUnknown: &result.Unknown,
	}[item.Verdict]
	*counter++
	switch failed := item.Failed(); {
	case item.Verdict == sluice.TryDiffers && item.Was == nil:
		result.New++
	case item.Verdict == sluice.TryDiffers && failed:
		result.Mended++
	case item.Verdict == sluice.TrySame && failed:
		result.StillFails++
		all = true
	}
	if item.Verdict == sluice.TrySame && !all || len(result.Items) == maxTryItems {
		return
	}
	result.Items = append(result.Items, item)
}
