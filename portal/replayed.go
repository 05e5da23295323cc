package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice"
)

// A replayedView says what became of events that were sent again.
type replayedView struct {
	Pipeline, EventKey    string // that they were for; "" means any
	Count, Skipped        int
	Letters               bool // they were dead letters
	Known                 bool // the user may see how they ended
	OK, Failed, Unsettled int
	Items                 []tracedCall // the newest of them
	CallsURL              string
	Live                  string // "" once all is known for a while, and if the user may not see it
}

// replayedPath returns the path of the page that says what became of what was sent
// again.
func replayedPath(b *bulk) string {
	since := b.Began.Truncate(time.Millisecond) // trace ids have the time to the millisecond
	query := url.Values{"from": {since.UTC().Format(time.RFC3339Nano)}, "to": {time.Now().UTC().Format(time.RFC3339Nano)}, "count": {strconv.Itoa(b.Done)}}
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

// replayedPage shows what became of events that were sent again: those that were
// made in a span of time.
func (p *Portal) replayedPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := &replayedView{Pipeline: query.Get("pipeline"), EventKey: query.Get("eventKey"), Letters: query.Get("letters") != ""}
	view.Count, _ = strconv.Atoi(query.Get("count"))
	view.Skipped, _ = strconv.Atoi(query.Get("skipped"))
	filter := callFilter{EventKey: view.EventKey, Pipeline: view.Pipeline, path: p.base + "/calls"}
	view.CallsURL = filter.Narrowed("", "")
	if p.may(sluice.UserFrom(r.Context()), "trace.get") {
		found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("pipeline", view.Pipeline, "eventKey", view.EventKey, "from", query.Get("from"), "to", query.Get("to"), "limit", strconv.Itoa(maxReplayed)))
		if err != nil {
			return err
		}
		view.Known = true
		view.count(found.Items)
		const young = 10 * time.Second // then what follows from it, such as banners, may still change
		if to, err := time.Parse(time.RFC3339Nano, query.Get("to")); view.Unsettled > 0 || err == nil && time.Since(to) < young {
			view.Live = p.liveFrom(view.EventKey, "")
		}
	}
	return p.render(w, r, http.StatusOK, "replayed", "Replayed", view)
}

// maxReplayed bounds the replays that are counted.
const maxReplayed = 1000

// count counts how the replays among calls have ended. Those that are not among
// them yet are on their way.
func (v *replayedView) count(found []tracedCall) {
	const shown = 50
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
		if len(v.Items) < shown {
			v.Items = append(v.Items, c)
		}
	}
	v.Unsettled = max(0, v.Counted()-v.OK-v.Failed)
}

// Counted returns how many of the replays, the newest ones, are counted by how they
// ended.
func (v *replayedView) Counted() int { return min(v.Count, maxReplayed) }
