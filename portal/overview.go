package portal

import (
	"net/http"
	"slices"

	"sluice"
)

// An overviewPage is the first page.
type overviewPage struct {
	sluice.ServerStats

	Day      bool // the plots are about a day, otherwise about an hour
	Seen     bool // the user may see the server's state
	Accepted int  // in that time
	Refused  int
	Failed   int
	RunFails int
	Waiting  int64
	Behind   []sluice.PipelineStats
	Calls    *plot
	Latency  *plot
	Latest   []tracedCall
	Live     string
}

func (p *Portal) overview(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	view := overviewPage{Day: r.URL.Query().Get("span") == "day", Seen: p.may(user, "server.stats")}
	if view.Seen {
		span := "60"
		if view.Day {
			span = "1440"
		}
		var err error
		if view.ServerStats, err = ask[sluice.ServerStats](p, r, "server.stats", args("minutes", span)); err != nil {
			return err
		}
		view.sum()
	}
	var err error
	const latest = "8"
	if view.Latest, err = p.latest(r, "", latest); err != nil {
		return err
	}
	if p.may(user, "trace.get") {
		view.Live = p.liveFrom("", "")
	}
	return p.render(w, r, http.StatusOK, "overview", "Overview", view)
}

// sum adds up what the page shows in figures, and draws the plots.
func (v *overviewPage) sum() {
	for _, m := range v.Minutes {
		v.Accepted += m.Accepted
		v.Refused += m.Refused
		v.Failed += m.Failed
		v.RunFails += m.RunErrors
	}
	for _, b := range v.Pipelines {
		v.Waiting += b.Waiting
		if b.Waiting > 0 || b.Failing != nil {
			v.Behind = append(v.Behind, b)
		}
	}
	slices.SortFunc(v.Behind, func(a, b sluice.PipelineStats) int {
		return int(b.Waiting+b.DeadLetters) - int(a.Waiting+a.DeadLetters)
	})
	const most = 8
	v.Behind = v.Behind[:min(len(v.Behind), most)]
	v.Calls, v.Latency = callPlot(v.Minutes), latencyPlot(v.Minutes)
}
