package calls

import (
	"net/url"
	"strconv"
	"time"

	"sluice"
	"sluice/portal/page"
)

// replayedPath returns the path of the page about the replays of a bulk.
func replayedPath(b *bulk) string {
	since := b.Began.Truncate(time.Millisecond) // trace ids have the time to the millisecond
	query := url.Values{
		"from": {since.UTC().Format(time.RFC3339Nano)}, "to": {time.Now().UTC().Format(time.RFC3339Nano)},
		"count": {strconv.Itoa(b.Done)},
	}
	if b.Left > 0 {
		query.Set("skipped", strconv.Itoa(b.Left))
	}
	for name := range b.replays {
		if value := b.replays.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	return "/calls/replayed?" + query.Encode() + "#result"
}

// A replayedView shows how replays ended.
type replayedView struct {
	Count, Skipped        int
	Known                 bool // the user may see how they ended
	OK, Failed, Unsettled int
	Items                 []sluice.CallView // the newest replays
	Live                  string            // "" if nothing changes any more, or the user may not see it
}

// replayedPage shows how the replays of a span of time ended.
func replayedPage(v *page.Visit) error {
	view := new(replayedView)
	view.Count, _ = strconv.Atoi(v.Query("count"))
	view.Skipped, _ = strconv.Atoi(v.Query("skipped"))
	if v.May("trace.get") {
		found := Find(v, page.Picked(v.R.URL.Query(), "pipeline", "eventKey", "from", "to"),
			"limit", strconv.Itoa(maxReplayed))
		view.Known = true
		view.count(found.Items)
		const young = 10 * time.Second // alerts may still change
		if to, err := time.Parse(time.RFC3339Nano, v.Query("to")); view.Unsettled > 0 ||
			err == nil && time.Since(to) < young {
			view.Live = v.Live(v.Query("eventKey"), "")
		}
	}
	return v.Show("replayed", "Replayed", view)
}

// maxReplayed bounds the replays that are counted, the newest ones.
const maxReplayed = 1000

// count counts how the replays among calls ended. The others are still to come.
func (v *replayedView) count(found []sluice.CallView) {
	const most = 50
	for _, c := range found {
		if c.ReplayOf == "" {
			continue
		}
		switch c.Status {
		case sluice.StatusOK:
			v.OK++
		case sluice.StatusError:
			v.Failed++
		}
		if len(v.Items) < most {
			v.Items = append(v.Items, c)
		}
	}
	v.Unsettled = max(0, v.Counted()-v.OK-v.Failed)
}

// Counted returns how many replays are counted.
func (v *replayedView) Counted() int { return min(v.Count, maxReplayed) }
