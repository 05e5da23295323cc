package calls

import (
	"slices"
	"time"

	"sluice"
	"sluice/portal/page"
)

// callNext redirects to the next call of the same webhook.
func callNext(v *page.Visit, items []sluice.CallView) error {
	c := items[0]
	other := nextAfter(c.Time, time.Now(),
		func(from, to time.Time) (found []sluice.CallView, more bool) {
			for after := ""; ; {
				page := Find(v, "eventKey", c.EventKey, "from", from.Format(time.RFC3339Nano),
					"to", to.Format(time.RFC3339Nano), "limit", "100", "after", after)
				items := page.Items
				if i := placeOf(c, items); i >= 0 {
					items = items[:i]
				}
				if len(items) > 0 || page.Next == "" {
					return items, page.Next != ""
				}
				after = page.Next // the search stopped early, at its bound
			}
		})
	return callBeside(v, c, other)
}

// placeOf returns where a call is among others, -1 if it is not. Several have the same time, such as replays.
func placeOf(c sluice.CallView, others []sluice.CallView) int {
	return slices.IndexFunc(others, func(other sluice.CallView) bool { return other.TraceID == c.TraceID })
}

// nextAfter returns the first call since a time, or nil. find returns the newest calls
// of a span, newest first, and whether there are more. So the span grows until it has
// calls, and is halved until it has few.
func nextAfter(
	at, now time.Time, find func(from, to time.Time) (found []sluice.CallView, more bool),
) *sluice.CallView {
	const firstSpan, largerSpan, shortest = time.Minute, 8, time.Millisecond
	from, to := at, at.Add(firstSpan)
	found, more := find(from, to)
	for span := firstSpan * largerSpan; len(found) == 0 && to.Before(now); span *= largerSpan {
		from, to = to, at.Add(span)
		found, more = find(from, to)
	}
	for more && to.Sub(from) > shortest {
		middle := from.Add(to.Sub(from) / 2)
		if earlier, stillMore := find(from, middle); len(earlier) > 0 {
			found, more, to = earlier, stillMore, middle
		} else {
			from = middle
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &found[len(found)-1]
}

// callPrevious redirects to the previous call of the same webhook.
func callPrevious(v *page.Visit, items []sluice.CallView) error {
	var other *sluice.CallView
	c := items[0]
	found := Find(v, "eventKey", c.EventKey, "to", c.Time.Format(time.RFC3339Nano), "limit", "100")
	if i := placeOf(c, found.Items) + 1; i > 0 && i < len(found.Items) {
		other = &found.Items[i]
	}
	return callBeside(v, c, other)
}

// callBeside redirects from a call to another, or says that there is none.
func callBeside(v *page.Visit, c sluice.CallView, other *sluice.CallView) error {
	if other == nil {
		return v.Redirect(callPath(c.TraceID) + "?done=last")
	}
	return v.Redirect(callPath(other.TraceID))
}
