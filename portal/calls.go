package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"sluice"
	"sluice/problem"
)

func (p *Portal) routeCalls() {
	p.page("GET /calls", p.callList)
	p.page("GET /calls/export", p.callExport)
	p.page("GET /calls/replay", p.replayAllPage)
	p.page("POST /calls/replay", p.replayAll)
	p.page("GET /calls/replayed", p.replayedPage)
	p.page("POST /calls/selected", p.callsSelected)
	p.page("GET /calls/{trace}", p.callPage)
	p.page("GET /calls/{trace}/previous", p.callPrevious)
	p.page("GET /calls/{trace}/next", p.callNext)
	p.page("POST /calls/{trace}/replay", p.callReplay)
	p.page("GET /calls/{trace}/edit", p.callEdit)
	p.page("POST /calls/{trace}/edit", p.callResend)
	p.page("GET "+sluice.LivePath, p.live)
}

// A tracedCall is a call as trace.get shows it.
type tracedCall = sluice.CallView

// reason returns why a call failed, as far as a line has space for it.
func reason(c sluice.Call) string {
	const most = 160
	for _, run := range slices.Backward(c.Runs) {
		if run.Error != nil {
			return clipped(place.ReplaceAllString(run.Error.Detail, ""), most)
		}
	}
	return ""
}

// place is where in a pipeline an error happened: before its reason, a line has no
// space for it.
var place = regexp.MustCompile(`^Step \d+, [^:]* \(line \d+\): `)

type callListView struct {
	callFilter

	Items    []tracedCall
	Next     string
	Problem  string
	Live     string     // path of the live stream; "" if the list ends in the past
	LiveBy   string     // what a page does with what the stream tells
	Facets   *facets    // nil: none
	Searched *time.Time // how far back the search has looked, if it found less than a page
	Payloads bool       // the user may search in payloads
}

func (p *Portal) callList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := callListView{callFilter: filterOf(p.base, query), Payloads: sluice.UserFrom(r.Context()).May(sluice.MaySeePayload)}
	given := append(view.args(), args("limit", callPageSize, "after", query.Get("after"), "facets", "true")...)
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", given)
	status, refusal, err := wrongFilter(err)
	if err != nil {
		return err
	}
	view.Problem, view.Items, view.Next, view.Facets = refusal, found.Items, p.nextPage(r, found.Next), (*facets)(found.Facets)
	if found.Next != "" && shownNumber(len(found.Items)) != callPageSize {
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
	return p.base + sluice.LivePath + "?" + query.Encode()
}

// latest returns the newest calls, none if the user may not see them.
func (p *Portal) latest(r *http.Request, eventKey string, limit string) ([]tracedCall, error) {
	if !p.may(sluice.UserFrom(r.Context()), "trace.get") {
		return nil, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", eventKey, "limit", limit))
	return found.Items, err
}
