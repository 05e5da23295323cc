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

// An overviewPage is the start page.
type overviewPage struct {
	sluice.ServerStats

	Span    span
	Spans   []span
	Seen    bool               // the user may see the server's state
	Sum     sluice.CallFigures // over the span
	Since   string             // start of the span, for the list of calls
	Calls   *plot
	Latency *plot
	Busiest []busyWebhook
	Latest  []tracedCall
	Live    string

	Closed    []sluice.Closing       // in this time
	Attention []sluice.PipelineStats // pipelines that fail, are behind, or have dead letters
}

// A busyWebhook is a webhook with its calls over time.
type busyWebhook struct {
	sluice.WebhookStats

	Path string // list of its calls
	Line sparkline
}

func (p *Portal) overview(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	view := overviewPage{Span: spanOf(r.URL.Query(), spans, spans[1]), Spans: spans, Seen: p.may(user, "server.stats")}
	if view.Seen {
		given := args("minutes", strconv.Itoa(max(view.Span.minutes, 1)))
		if view.Span.hours > 0 {
			given = append(given, args("hours", strconv.Itoa(view.Span.hours))...)
		}
		var err error
		if view.ServerStats, err = ask[sluice.ServerStats](p, r, "server.stats", given); err != nil {
			return err
		}
		if view.Closed, err = p.closed(r, view.sums()[0].Time); err != nil {
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

// busiest returns the webhooks with most calls in a day or longer.
func (p *Portal) busiest(r *http.Request, s span) ([]busyWebhook, error) {
	if !p.allows(r, "webhook.stats") {
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

// closed returns when no calls were taken since a time.
func (p *Portal) closed(r *http.Request, from time.Time) ([]sluice.Closing, error) {
	if !p.allows(r, "server.closed") {
		return nil, nil
	}
	found, err := ask[sluice.List[sluice.Closing]](p, r, "server.closed", args("from", from.UTC().Format(time.RFC3339)))
	return found.Items, err
}

// sums returns the figures of the span.
func (v *overviewPage) sums() []sluice.Minute {
	if v.Span.hours > 0 {
		return v.Span.cut(v.Hours)
	}
	return v.Span.cut(v.Minutes)
}

// sum computes the figures and draws the plots. Bars link to their calls if linked is
// set.
func (v *overviewPage) sum(base string, linked bool) {
	sums := v.sums()
	for _, m := range sums {
		v.Sum.Add(m.CallFigures)
	}
	v.Since = sums[0].Time.UTC().Format("2006-01-02T15:04:05")
	for _, b := range v.Pipelines {
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
	v.Calls.gaps(v.Closed, sums, v.Span)
	v.Latency.gaps(v.Closed, sums, v.Span)
	if linked {
		v.Calls.link(base + "/calls?")
		v.Latency.link(base + "/calls?")
	}
}
