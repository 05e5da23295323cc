package portal

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
)

// A span is a time that the overview is about.
type span struct {
	Name    string // in the address
	Title   string
	minutes int
	hours   int // in place of minutes, for the longer ones
}

var spans = []span{
	{Name: "15m", Title: "15 min", minutes: 15}, {Name: "hour", Title: "1 h", minutes: 60}, {Name: "6h", Title: "6 h", minutes: 360},
	{Name: "day", Title: "24 h", minutes: 1440}, {Name: "week", Title: "7 days", hours: 7 * 24}, {Name: "month", Title: "30 days", hours: 30 * 24},
}

// spanOf returns the span of an address; the hour if it names none.
func spanOf(name string) span {
	for _, s := range spans {
		if s.Name == name {
			return s
		}
	}
	return spans[1]
}

// period is how long each sum of the span is about.
func (s span) period() time.Duration {
	if s.hours > 0 {
		return time.Hour
	}
	return time.Minute
}

// AtLeastADay returns the title of the time that figures of webhooks are about:
// they are counted by the hour.
func (s span) AtLeastADay() string {
	if s.hours > 0 {
		return s.Title
	}
	return "24 h"
}

// An overviewPage is the first page.
type overviewPage struct {
	sluice.ServerStats

	Span     span
	Spans    []span
	Seen     bool // the user may see the server's state
	Well     int  // calls in that time that were accepted, and no pipeline failed on
	Rejected int
	Failed   int // calls that a pipeline failed on, or that could not be stored
	Waiting  int64
	Oldest   *time.Time // of the events that wait
	Since    string     // when the time began, as the list of calls takes it
	Calls    *plot
	Latency  *plot
	Busiest  []busyWebhook
	Latest   []tracedCall
	Live     string

	Attention []sluice.PipelineStats // pipelines that fail, are behind, or have dead letters
}

// A busyWebhook is a webhook with its calls over time.
type busyWebhook struct {
	sluice.WebhookStats

	Path string // of its calls
	Line sparkline
}

func (p *Portal) overview(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	view := overviewPage{Span: spanOf(r.URL.Query().Get("span")), Spans: spans, Seen: p.may(user, "server.stats")}
	if view.Seen {
		given := args("minutes", strconv.Itoa(max(view.Span.minutes, 1)))
		if view.Span.hours > 0 {
			given = append(given, args("hours", strconv.Itoa(view.Span.hours))...)
		}
		var err error
		if view.ServerStats, err = ask[sluice.ServerStats](p, r, "server.stats", given); err != nil {
			return err
		}
		view.sum(p.base, p.may(user, "trace.get"))
	}
	var err error
	if view.Busiest, err = p.busiest(r, view.Span); err != nil {
		return err
	}
	const latest = "8"
	if view.Latest, err = p.latest(r, "", latest); err != nil {
		return err
	}
	if p.may(user, "trace.get") {
		view.Live = p.liveFrom("", "")
	}
	return p.render(w, r, http.StatusOK, "overview", "Overview", view)
}

// busiest returns the webhooks with most calls, over a day at least.
func (p *Portal) busiest(r *http.Request, s span) ([]busyWebhook, error) {
	if !p.may(sluice.UserFrom(r.Context()), "webhook.stats") {
		return nil, nil
	}
	const most, day = "8", 24
	found, err := ask[[]sluice.WebhookStats](p, r, "webhook.stats", args("hours", strconv.Itoa(max(s.hours, day)), "limit", most))
	if err != nil {
		return nil, err
	}
	busy := make([]busyWebhook, len(found))
	for i, of := range found {
		busy[i] = busyWebhook{of, p.base + "/calls?eventKey=" + url.QueryEscape(of.EventKey), newSparkline(of.Hours)}
	}
	return busy, nil
}

// sum adds up what the page shows in figures, and draws the plots. Bars lead to
// their calls, if the user may see them.
func (v *overviewPage) sum(base string, linked bool) {
	sums := v.Minutes
	if v.Span.hours > 0 {
		sums = v.Hours
	}
	for _, m := range sums {
		v.Well += m.Well()
		v.Rejected += m.Rejected + m.Unavailable // as the list of calls has those that could not be taken
		v.Failed += m.Errors
	}
	v.Since = sums[0].Time.UTC().Format("2006-01-02T15:04:05")
	for _, b := range v.Pipelines {
		v.Waiting += b.Waiting
		if b.Oldest != nil && (v.Oldest == nil || b.Oldest.Before(*v.Oldest)) {
			v.Oldest = b.Oldest
		}
		if b.Waiting > 0 || b.Failing != nil || b.DeadLetters > 0 {
			v.Attention = append(v.Attention, b)
		}
	}
	fine := func(p sluice.PipelineStats) int {
		if p.Failing != nil {
			return 0
		}
		return 1
	}
	slices.SortFunc(v.Attention, func(a, b sluice.PipelineStats) int {
		return cmp.Or(cmp.Compare(fine(a), fine(b)), cmp.Compare(b.Waiting+b.DeadLetters, a.Waiting+a.DeadLetters))
	})
	const most = 8
	v.Attention = v.Attention[:min(len(v.Attention), most)]
	v.Calls, v.Latency = callPlot(sums, v.Span), latencyPlot(sums, v.Span)
	if linked {
		v.Calls.link(base)
		v.Latency.link(base)
	}
}
