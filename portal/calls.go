package portal

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
)

type callListView struct {
	callFilter

	Items    []tracedCall
	Next     string
	Problem  string
	Live     string     // path of the live stream; "" if the list ends in the past
	LiveBy   string     // how the page uses the stream
	Facets   *facets    // nil if there are none
	Searched *time.Time // how far back the search went, if it filled no page
	Payloads bool       // the user may search in payloads
}

func (p *Portal) callList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := callListView{callFilter: filterOf(p.base, query), Payloads: sluice.UserFrom(r.Context()).May(sluice.MaySeePayload)}
	given := append(view.args(), args("limit", callPageSize, "after", query.Get("after"), "facets", "true")...)
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", given)
	status, rejection, err := wrongFilter(err)
	if err != nil {
		return err
	}
	view.Problem, view.Items, view.Next, view.Facets = rejection, found.Items, p.nextPage(r, found.Next), (*facets)(found.Facets)
	if found.Next != "" && strconv.Itoa(len(found.Items)) != callPageSize {
		view.Searched = found.Searched
	}
	if view.growing() && query.Get("after") == "" && view.Problem == "" {
		view.Live, view.LiveBy = p.liveFrom(view.EventKey, view.Trace), "wait"
		if !view.onlyKeyAndTrace() {
			view.LiveBy = "narrowed"
		}
	}
	return p.render(w, r, status, "calls", "Calls", view)
}

// liveFrom returns the path of a live stream of calls.
func (p *Portal) liveFrom(eventKey, trace string) string {
	query := url.Values{}
	for name, value := range map[string]string{"eventKey": eventKey, "trace": trace} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return p.base + sluice.LivePath + "?" + query.Encode()
}

// latest returns the newest calls, none if the user may not see them.
func (p *Portal) latest(r *http.Request, eventKey string, limit string) ([]tracedCall, error) {
	found, err := askIfAllowed[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", eventKey, "limit", limit))
	return found.Items, err
}

// callPageSize is how many calls a list shows at once.
const callPageSize = "50"

// A callFilter says which calls a list shows.
type callFilter struct {
	Search, EventKey, Pipeline, Status, Code, Trace, Since, From, To string

	InPayloads bool // payloads are searched too

	path string
}

var callStatuses = []sluice.Status{sluice.StatusProcessing, sluice.StatusRetrying, sluice.StatusOK, sluice.StatusError, sluice.StatusRecovered, sluice.StatusRejected, sluice.StatusHandshake}

func filterOf(base string, query url.Values) callFilter {
	f := callFilter{
		Search: strings.TrimSpace(query.Get("search")), EventKey: query.Get("eventKey"), Pipeline: query.Get("pipeline"), Status: string(sluice.StatusOf(query.Get("status"))),
		Code: query.Get("code"), Trace: strings.TrimSpace(query.Get("trace")), From: query.Get("from"), To: query.Get("to"),
		InPayloads: query.Get("payloads") != "", path: base + "/calls",
	}
	if f.From == "" && f.To == "" {
		f.Since = query.Get("since")
	}
	return f
}

// args returns the filter as trace.get takes it.
func (f callFilter) args() command.Args {
	given := args("search", f.Search, "eventKey", f.EventKey, "pipeline", f.Pipeline, "status", f.Status, "code", f.Code, "traceId", f.Trace,
		"from", f.start(), "to", asTime(f.To))
	if f.InPayloads && f.Search != "" {
		given = append(given, argument("payloads", true))
	}
	return given
}

// start returns the earliest time of the calls. A text that is no time is left to the command
// to refuse.
func (f callFilter) start() string {
	if at, err := sluice.Since(time.Time{}, f.Since); err == nil && !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return cmp.Or(f.Since, asTime(f.From))
}

// values returns the filter as the query of a page.
func (f callFilter) values() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"search": f.Search, "eventKey": f.EventKey, "pipeline": f.Pipeline, "status": f.Status, "code": f.Code, "trace": f.Trace, "since": f.Since, "from": f.From, "to": f.To,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.InPayloads {
		query.Set("payloads", "yes")
	}
	return query
}

// Narrowed returns the path of the list with one condition set, or removed if value is
// empty.
func (f callFilter) Narrowed(name, value string) string {
	query := f.values()
	if name == "since" {
		query.Del("from") // one start is enough
		query.Del("to")
	}
	query.Set(name, value)
	if value == "" {
		query.Del(name)
	}
	if len(query) == 0 {
		return f.path
	}
	return f.path + "?" + query.Encode()
}

// Export returns the path that exports the matching calls as JSON lines.
func (f callFilter) Export() string { return f.path + "/export?" + f.values().Encode() }

// MaxExported returns the bound of an export.
func (f callFilter) MaxExported() int { return maxExported }

// ReplayAll returns the path of the page that replays the matching calls.
func (f callFilter) ReplayAll() string { return f.path + "/replay?" + f.values().Encode() }

// Failed reports whether the list shows failed calls that can be replayed together:
// event.replay can't search for text or a trace id.
func (f callFilter) Failed() bool { return f.Status == "error" && f.Search == "" && f.Trace == "" }

// A timePreset is a time before now that a list can show.
type timePreset struct{ Since, Title string }

// Presets returns the times to choose from.
func (f callFilter) Presets() []timePreset {
	return []timePreset{{"15m", "15 min"}, {"1h", "1 h"}, {"6h", "6 h"}, {"1d", "24 h"}, {"7d", "7 days"}}
}

// Statuses returns the statuses to choose from.
func (f callFilter) Statuses() []sluice.Status { return callStatuses }

// Empty reports whether the list shows all calls.
func (f callFilter) Empty() bool { return len(f.values()) == 0 }

// onlyKeyAndTrace reports whether the live stream can filter like the list does: by
// event key and trace id alone.
func (f callFilter) onlyKeyAndTrace() bool {
	f.EventKey, f.Trace = "", ""
	return f.Empty()
}

// growing reports whether new calls may match, and asking again is cheap.
func (f callFilter) growing() bool { return f.To == "" && !f.InPayloads }

// A chosen is a condition that the form does not show.
type chosen struct{ Name, Title, Value string }

// Chosen returns the conditions that facets and links have set.
func (f callFilter) Chosen() (all []chosen) {
	for _, c := range []chosen{{"eventKey", "webhook", f.EventKey}, {"pipeline", "pipeline", f.Pipeline}, {"code", "code", f.Code}, {"trace", "trace id", f.Trace}} {
		if c.Value != "" {
			all = append(all, c)
		}
	}
	return all
}

// facets are the counts of trace.get.
type facets sluice.Facets

// A facetGroup is one condition with the values to choose from.
type facetGroup struct {
	Name, Title string
	Values      []sluice.Facet
}

// Groups returns the counts under their headings, without empty groups.
func (f *facets) Groups() (groups []facetGroup) {
	for _, g := range []facetGroup{{"status", "Status", f.Statuses}, {"eventKey", "Webhook", f.Webhooks}, {"pipeline", "Pipeline", f.Pipelines}, {"code", "Code", f.Codes}} {
		if len(g.Values) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// maxExported bounds the calls of an export. The list of calls shows the bound.
const maxExported = 10_000

// beatEvery is how often an idle stream checks the reader's permission.
const beatEvery = 10 * time.Second

// live streams calls and runs to a page as they happen, as Server-Sent Events.
func (p *Portal) live(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	if !p.may(user, "trace.get") {
		return sluice.NotPermitted("trace.get")
	}
	if !p.readers.Enter(user.Name) {
		return sluice.Errorf(sluice.CodeTooManyTails, "You have as many pages live as one user may.").After(beatEvery)
	}
	defer p.readers.Leave(user.Name)
	if err := p.streams.Enter(); err != nil {
		return sluice.Errorf(sluice.CodeTooManyTails, "As many pages are live as the server allows.").OfKind(sluice.Unavailable).After(beatEvery)
	}
	defer p.streams.Leave()
	query := r.URL.Query()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	q := sluice.TailQuery{EventKey: query.Get("eventKey"), TraceID: query.Get("trace"), After: r.Header.Get("Last-Event-ID"), Cover: user.CoverOf("trace.get", true), Known: user.Cover(sluice.MaySeePayload)}
	entries, err := p.Tail.Follow(ctx, q)
	if err != nil {
		return err
	}
	queue := make(chan sluice.TailEntry)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	reading.Go(func() {
		defer close(queue)
		for entry, err := range entries {
			if err != nil {
				return // the page tries again
			}
			select {
			case queue <- entry:
			case <-ctx.Done():
				return
			}
		}
	})
	p.stream(w, r, q, queue)
	return nil
}

// stream writes entries until the reader leaves or loses the permission, or the
// server stops.
func (p *Portal) stream(w http.ResponseWriter, r *http.Request, q sluice.TailQuery, queue <-chan sluice.TailEntry) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the stream outlives the time limit of a request
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not hold entries back
	write := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	}
	// still reports whether the reader is signed in and has the permission.
	still := func() bool {
		user, err := p.user(&recorder{header: make(http.Header)}, r)
		return err == nil && q.Cover.Within(user.CoverOf("trace.get", true)) && q.Known.Within(user.Cover(sluice.MaySeePayload))
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for going := write(": following\n\n"); going; {
		select {
		case <-r.Context().Done():
			return
		case <-p.Stopping:
			return
		case <-beat.C:
			going = still() && write(": still here\n\n")
		case entry, open := <-queue:
			going = open && still() && write("id: %s\nevent: %s\ndata: %s\n\n", entry.Position, entry.Type, entry.Data)
		}
	}
}

// rejectedCalls returns calls without their payloads.
func (p *Portal) rejectedCalls(r *http.Request, given command.Args) (sluice.List[sluice.QuarantineView], error) {
	return ask[sluice.List[sluice.QuarantineView]](p, r, "quarantine.get", append(given, argument("brief", true)))
}

// A quarantined is a rejected call that is kept.
type quarantined struct{ sluice.QuarantineView }

// kept returns a rejected call.
func (p *Portal) kept(r *http.Request, id string) (*quarantined, error) {
	found, err := ask[sluice.List[sluice.QuarantineView]](p, r, "quarantine.get", args("id", id))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, sluice.Errorf(sluice.CodeQuarantineUnknown, "There is no such call in the quarantine: it was admitted or deleted, or is too old.")
	}
	return &quarantined{found.Items[0]}, nil
}

// sentBody returns the body of a call as it came, if it is text. whole is false if it
// is not text or is incomplete.
func sentBody(c tracedCall) (body string, whole bool) {
	switch c.PayloadEncoding {
	case sluice.EncodingText:
		return body, json.Unmarshal(c.Payload, &body) == nil
	case sluice.EncodingJSON:
		return string(c.Payload), true
	case sluice.EncodingNone:
		return "", c.Method != "" && c.Size == 0
	case sluice.EncodingBase64:
		var sent sluice.Binary
		if err := json.Unmarshal(c.Payload, &sent); err != nil || sent.Origin == "" && sent.Size > 0 {
			return "", false
		}
		content, err := base64.StdEncoding.DecodeString(sent.Origin)
		return string(content), err == nil && isText(content)
	}
	return "", false
}
