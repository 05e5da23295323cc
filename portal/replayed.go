package portal

import (
	"net/http"
	"strconv"
	"time"

	"sluice"
)

// A replayedView shows how replays ended.
type replayedView struct {
	Pipeline, EventKey    string // of the replays; "" means any
	Count, Skipped        int
	Letters               bool // they were dead letters
	Known                 bool // the user may see how they ended
	OK, Failed, Unsettled int
	Items                 []tracedCall // the newest replays
	CallsURL              string
	Live                  string // "" if nothing changes any more, or the user may not see it
}

// replayedPage shows how the replays of a span of time ended.
func (p *Portal) replayedPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := &replayedView{Pipeline: query.Get("pipeline"), EventKey: query.Get("eventKey"), Letters: query.Get("letters") != ""}
	view.Count, _ = strconv.Atoi(query.Get("count"))
	view.Skipped, _ = strconv.Atoi(query.Get("skipped"))
	filter := callFilter{EventKey: view.EventKey, Pipeline: view.Pipeline, path: p.base + "/calls"}
	view.CallsURL = filter.Narrowed("", "")
	if p.allows(r, "trace.get") {
		found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("pipeline", view.Pipeline, "eventKey", view.EventKey, "from", query.Get("from"), "to", query.Get("to"), "limit", strconv.Itoa(maxReplayed)))
		if err != nil {
			return err
		}
		view.Known = true
		view.count(found.Items)
		const young = 10 * time.Second // alerts may still change
		if to, err := time.Parse(time.RFC3339Nano, query.Get("to")); view.Unsettled > 0 || err == nil && time.Since(to) < young {
			view.Live = p.liveFrom(view.EventKey, "")
		}
	}
	return p.render(w, r, http.StatusOK, "replayed", "Replayed", view)
}

// maxReplayed bounds the replays that are counted, the newest ones.
const maxReplayed = 1000

// count counts how the replays among calls ended. The others are still to come.
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

// Counted returns how many replays are counted.
func (v *replayedView) Counted() int { return min(v.Count, maxReplayed) }
