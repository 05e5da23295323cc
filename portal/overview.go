package portal

import (
	"net/http"
	"slices"
	"time"

	"sluice"
)

// stats is what server.stats answers.
type stats struct {
	Ready       bool      `json:"ready"`
	Problem     string    `json:"problem"`
	Warnings    []string  `json:"warnings"`
	Engine      string    `json:"engine"`
	FreeDisk    int64     `json:"freeDisk"`
	Events      int64     `json:"events"`
	EventBytes  int64     `json:"eventBytes"`
	DeadLetters int64     `json:"deadLetters"`
	Results     int64     `json:"results"`
	Webhooks    int       `json:"webhooks"`
	Pipelines   []backlog `json:"pipelines"`
	Minutes     []minute  `json:"minutes"`
}

// A backlog is what a pipeline has not finished, or failed on.
type backlog struct {
	Pipeline    string     `json:"pipeline"`
	Waiting     int64      `json:"waiting"`
	Oldest      *time.Time `json:"oldest"`
	DeadLetters int64      `json:"deadLetters"`
}

// A minute tells of the calls of a minute; times are in milliseconds.
type minute struct {
	Time      time.Time `json:"time"`
	Accepted  int       `json:"accepted"`
	Refused   int       `json:"refused"`
	Failed    int       `json:"failed"`
	Runs      int       `json:"runs"`
	RunErrors int       `json:"runErrors"`
	P50       float64   `json:"p50"`
	P99       float64   `json:"p99"`
}

// An overviewPage is the first page.
type overviewPage struct {
	stats

	Day      bool // the plots are about a day, else about an hour
	Seen     bool // who looks may see how the server is
	Accepted int  // in that time
	Refused  int
	Failed   int
	RunFails int
	Waiting  int64
	Behind   []backlog
	Calls    *plot
	Latency  *plot
	Latest   []call
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
		if view.stats, err = ask[stats](p, r, "server.stats", args("minutes", span)); err != nil {
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
		if b.Waiting > 0 || b.DeadLetters > 0 {
			v.Behind = append(v.Behind, b)
		}
	}
	slices.SortFunc(v.Behind, func(a, b backlog) int { return int(b.Waiting+b.DeadLetters) - int(a.Waiting+a.DeadLetters) })
	const most = 8
	v.Behind = v.Behind[:min(len(v.Behind), most)]
	v.Calls, v.Latency = callPlot(v.Minutes), latencyPlot(v.Minutes)
}
