package portal

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/problem"
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
	const most, day = "8", 24
	found, err := askIfAllowed[[]sluice.WebhookStats](p, r, "webhook.stats", args("hours", strconv.Itoa(max(s.hours, day)), "limit", most))
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
	found, err := askIfAllowed[sluice.List[sluice.Closing]](p, r, "server.closed", args("from", from.UTC().Format(time.RFC3339)))
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

// A span is the time that the overview covers.
type span struct {
	Name    string // in the query
	Title   string
	minutes int
	hours   int // instead of minutes, for longer spans

	From, To time.Time // what a plot was zoomed to, zero if it was not
}

var spans = []span{
	{Name: "15m", Title: "15 min", minutes: 15}, {Name: "hour", Title: "1 h", minutes: 60}, {Name: "6h", Title: "6 h", minutes: 360},
	{Name: "day", Title: "24 h", minutes: 1440}, {Name: "week", Title: "7 days", hours: 7 * 24}, {Name: "month", Title: "30 days", hours: 30 * 24},
}

// longSpans are those of which single webhooks and pipelines have figures.
var longSpans = spans[3:]

// spanOf returns the span that a query asks for. A plot can be zoomed to a time within the last
// 30 days.
func spanOf(query url.Values, offered []span, otherwise span) span {
	from, err := time.Parse(time.RFC3339, query.Get("from"))
	to, wrong := time.Parse(time.RFC3339, query.Get("to"))
	if err == nil && wrong == nil && from.Before(to) {
		zoomed := span{From: from, To: to, minutes: minutesKept}
		if time.Since(from) > minutesKept*time.Minute {
			zoomed.hours = hoursKept
		}
		return zoomed
	}
	if i := slices.IndexFunc(offered, func(s span) bool { return s.Name == query.Get("span") }); i >= 0 {
		return offered[i]
	}
	return otherwise
}

// How many minutes and hours the server counts.
const (
	minutesKept = 24 * 60
	hoursKept   = 30 * 24
)

// cut returns the sums within the span.
func (s span) cut(sums []sluice.Minute) []sluice.Minute {
	if s.From.IsZero() {
		return sums
	}
	within := slices.DeleteFunc(slices.Clone(sums), func(m sluice.Minute) bool { return m.Time.Before(s.From.Truncate(s.period())) || !m.Time.Before(s.To) })
	if len(within) == 0 {
		return sums
	}
	return within
}

// period returns the length of the time that a sum covers.
func (s span) period() time.Duration {
	if s.hours > 0 {
		return time.Hour
	}
	return time.Minute
}

// AtLeastADay returns the title of the time that the figures of webhooks cover. They
// are counted by the hour.
func (s span) AtLeastADay() string {
	if s.hours > 0 && s.From.IsZero() {
		return s.Title
	}
	return "24 h"
}

// A chart is the plot of a webhook or a pipeline, with the spans to choose from.
type chart struct {
	Plot  *plot
	Span  span
	Spans []span
	Path  string // of the page
}

// hourly returns an hour for each of some figures, the last of them the current one.
func hourly(count int, of func(i int) sluice.CallFigures) []sluice.Minute {
	hours := make([]sluice.Minute, count)
	first := time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(count-1) * time.Hour)
	for i := range hours {
		hours[i] = sluice.Minute{Time: first.Add(time.Duration(i) * time.Hour), CallFigures: of(i)}
	}
	return hours
}

// newChart returns the chart of a page, which is by the hour.
func newChart(r *http.Request, path string) *chart {
	of := spanOf(r.URL.Query(), longSpans, longSpans[0])
	of.hours = max(of.hours, of.minutes/60)
	return &chart{Span: of, Spans: longSpans, Path: path}
}

// webhookChart shows the calls of a webhook by the hour. It returns nil if there are none.
func (p *Portal) webhookChart(r *http.Request, key string) (*chart, error) {
	c := newChart(r, p.base+"/webhooks/"+url.PathEscape(key))
	found, err := ask[[]sluice.WebhookStats](p, r, "webhook.stats", args("eventKey", key, "hours", strconv.Itoa(c.Span.hours)))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	sums := c.Span.cut(hourly(len(found[0].Figures), func(i int) sluice.CallFigures { return found[0].Figures[i] }))
	c.Plot = callPlot(sums, c.Span)
	closed, err := p.closed(r, sums[0].Time)
	if err != nil {
		return nil, err
	}
	c.Plot.gaps(closed, sums, c.Span)
	if p.allows(r, "trace.get") {
		c.Plot.link(p.base + "/calls?eventKey=" + url.QueryEscape(key) + "&")
	}
	return c, nil
}

// pipelineChart shows the runs of a pipeline by the hour. It returns nil if there are none.
func (p *Portal) pipelineChart(r *http.Request, name string) (*chart, error) {
	c := newChart(r, p.base+"/pipelines/"+url.PathEscape(name))
	found, err := ask[sluice.PipelineRuns](p, r, "pipeline.stats", args("name", name, "hours", strconv.Itoa(c.Span.hours)))
	if err != nil || found.Runs == 0 {
		return nil, err
	}
	c.Plot = runPlot(c.Span.cut(hourly(len(found.Hours), func(i int) sluice.CallFigures {
		of := found.Hours[i]
		return sluice.CallFigures{OK: of.Runs - of.Errors, Error: of.Errors}
	})), c.Span)
	if p.allows(r, "trace.get") {
		c.Plot.link(p.base + "/calls?pipeline=" + url.QueryEscape(name) + "&")
	}
	return c, nil
}

// A tour is the page that guides people to their first call.
type tour struct {
	Key     string // of the webhook; "" if there is none yet
	Entered string
	Problem string
	Line    curlLine
	Token   bool
	Arrived *tracedCall
	Live    string
}

// Rule says which event keys are valid.
func (tour) Rule() string { return sluice.KeyRule }

const firstKey = "webhook.hello"

func (p *Portal) startPage(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	if key == "" {
		return p.render(w, r, http.StatusOK, "start", "First webhook", tour{Entered: firstKey})
	}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", key))
	if err != nil {
		return err
	}
	if hook.Provider != "" || hook.IsSigned() { // a plain call would be rejected
		return p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey))
	}
	receive, _, _ := strings.Cut(hook.WebhookURL, "?")
	view := tour{Key: hook.EventKey, Token: sluice.UserFrom(r.Context()).May(sluice.MaySeeTokens), Live: p.liveFrom(hook.EventKey, "")}
	view.Line = curlLines(receive, hook.OpenToken(), true)[0]
	found, err := p.latest(r, hook.EventKey, "1")
	if err != nil {
		return err
	}
	if len(found) > 0 {
		view.Arrived = &found[0]
	}
	return p.render(w, r, http.StatusOK, "start", "First webhook", view)
}

// start creates the first webhook.
func (p *Portal) start(w http.ResponseWriter, r *http.Request) error {
	key := strings.TrimSpace(r.PostForm.Get("eventKey"))
	hook, err := ask[sluice.WebhookView](p, r, "webhook.put", args("eventKey", key, "payloadType", "raw"))
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.render(w, r, problem.Status(err), "start", "First webhook", tour{Entered: key, Problem: sluice.AsError(err).Message})
	}
	return p.redirect(w, r, "/start?key="+url.QueryEscape(hook.EventKey))
}
