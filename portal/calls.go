package portal

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
)

func (p *Portal) routeCalls() {
	p.page("GET /calls", p.callList)
	p.page("GET /calls/{trace}", p.callPage)
	p.page("POST /calls/{trace}/replay", p.callReplay)
	p.page("GET "+livePath, p.live)
}

// A tracedCall is a call as trace.get shows it.
type tracedCall struct {
	sluice.Call

	Payload         json.RawMessage     `json:"payload"`
	PayloadEncoding string              `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
	Query           map[string][]string `json:"query"`
	Headers         map[string]string   `json:"headers"`
	Result          json.RawMessage     `json:"result"`
}

// ByHand reports whether it is not a call but a run that a user has started.
func (c tracedCall) ByHand() bool { return sluice.TraceOwner(c.TraceID) == sluice.DirectCall }

// Accepted reports whether it became an event or a message. Users who may not see
// payloads don't know its correlation id.
func (c tracedCall) Accepted() bool {
	return c.Status != sluice.StatusRejected && (c.EventKey != "" || c.Key != "")
}

// calls is the answer of trace.get.
type calls struct {
	Items []tracedCall `json:"items"`
	Next  string       `json:"next"`
}

// A callFilter says which calls a list shows.
type callFilter struct{ EventKey, Pipeline, Status, Trace, From, To string }

type callListView struct {
	callFilter

	Statuses []string
	Items    []tracedCall
	Next     string
	Problem  string
	Live     string // path of the live stream; "" if the list ends in the past
}

var callStatuses = []string{"ok", "processing", "error", "rejected"}

func (p *Portal) callList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := callListView{
		callFilter: callFilter{query.Get("eventKey"), query.Get("pipeline"), query.Get("status"), strings.TrimSpace(query.Get("trace")), query.Get("from"), query.Get("to")},
		Statuses:   callStatuses,
	}
	found, err := ask[calls](p, r, "trace.get", args("eventKey", view.EventKey, "pipeline", view.Pipeline, "status", view.Status, "traceId", view.Trace,
		"from", asTime(view.From), "to", asTime(view.To), "limit", pageSize, "after", query.Get("after")))
	status, refusal, err := wrongFilter(err)
	if err != nil {
		return err
	}
	view.Problem = refusal
	view.Items, view.Next = found.Items, p.nextPage(r, found.Next)
	if view.Pipeline == "" && view.Status == "" && view.To == "" && query.Get("after") == "" && view.Problem == "" {
		view.Live = p.liveFrom(view.EventKey, view.Trace)
	}
	return p.render(w, r, status, "calls", "Calls", view)
}

// wrongFilter returns the status of a list, and its message if the command
// refused the filter. Other errors are returned.
func wrongFilter(err error) (status int, refusal string, other error) {
	if err == nil {
		return http.StatusOK, "", nil
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Invalid {
		return 0, "", err
	}
	return problem.Status(e), e.Message, nil
}

// liveFrom returns the path of a page's live stream of calls.
func (p *Portal) liveFrom(eventKey, trace string) string {
	query := url.Values{}
	for name, value := range map[string]string{"eventKey": eventKey, "trace": trace} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return p.base + livePath + "?" + query.Encode()
}

// latest returns the newest calls, none if the user may not see them.
func (p *Portal) latest(r *http.Request, eventKey string, limit string) ([]tracedCall, error) {
	if !p.may(sluice.UserFrom(r.Context()), "trace.get") {
		return nil, nil
	}
	found, err := ask[calls](p, r, "trace.get", args("eventKey", eventKey, "limit", limit))
	return found.Items, err
}

// A callView is the page of one call.
type callView struct {
	tracedCall

	Followed []tracedCall // events that followed from it
	Picture  *timeline
	Seen     bool // the user may see payloads
	Headers  []sluice.Header
	Text     string // payload, as people read it
	Result   string
	Live     string
}

func (p *Portal) callPage(w http.ResponseWriter, r *http.Request) error {
	trace := r.PathValue("trace")
	found, err := ask[calls](p, r, "trace.get", args("traceId", trace, "limit", "20"))
	if err != nil {
		return err
	}
	if len(found.Items) == 0 || !strings.Contains(trace, ":") {
		return sluice.Errorf(sluice.NotFound, "call-unknown", "There is no call with that trace id, or it is no longer kept.")
	}
	slices.SortFunc(found.Items, func(a, b tracedCall) int { return a.Time.Compare(b.Time) })
	view := callView{tracedCall: found.Items[0], Followed: found.Items[1:], Picture: picture(found.Items), Seen: sluice.UserFrom(r.Context()).May(sluice.MaySeePayload)}
	view.Headers = shownHeaders(view.tracedCall.Headers)
	view.Text = payloadText(view.tracedCall)
	if view.tracedCall.Result != nil {
		view.Result = pretty(view.tracedCall.Result)
	}
	if view.Status == sluice.StatusProcessing {
		view.Live = p.liveFrom("", trace)
	}
	return p.render(w, r, http.StatusOK, "call", "Call "+trace, view)
}

// shownHeaders returns headers in the order of their names, shortened.
func shownHeaders(headers map[string]string) (shown []sluice.Header) {
	const most = 40
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if len(shown) < most {
			shown = append(shown, sluice.Header{Name: clipped(name, 60), Value: shortened(headers[name], maxHeader)})
		}
	}
	return shown
}

// callReplay sends the event of a call again.
func (p *Portal) callReplay(w http.ResponseWriter, r *http.Request) error {
	again, err := ask[struct {
		Items []struct {
			TraceID string `json:"newTraceId"`
		} `json:"items"`
	}](p, r, "event.replay", args("traceId", r.PathValue("trace")))
	if err != nil {
		return err
	}
	if len(again.Items) == 0 {
		p.redirect(w, r, "/calls?done=replayed")
		return nil
	}
	p.redirect(w, r, "/calls/"+url.PathEscape(again.Items[0].TraceID)+"?done=replayed")
	return nil
}
