package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/problem"
)

func (p *Portal) routeCalls() {
	p.page("GET /calls", p.callList)
	p.page("GET /calls/export", p.callExport)
	p.page("GET /calls/replay", p.replayAllPage)
	p.form("/calls/replay", p.replayAll)
	p.page("GET /calls/replayed", p.replayedPage)
	p.form("/calls/selected", p.callsSelected)
	p.page("GET /calls/{trace}", p.callPage)
	p.page("GET /calls/{trace}/previous", p.callPrevious)
	p.page("GET /calls/{trace}/next", p.callNext)
	p.page("POST /calls/{trace}/replay", p.callReplay)
	p.page("POST /calls/{trace}/retry", p.callRetry)
	p.page("GET /calls/{trace}/edit", p.callEdit)
	p.form("/calls/{trace}/edit", p.callResend)
	p.page("GET "+sluice.LivePath, p.live)
}

// A tracedCall is a call as trace.get shows it.
type tracedCall = sluice.CallView

// reason returns why a call failed, clipped to a line.
func reason(c sluice.Call) string {
	const most = 160
	for _, run := range slices.Backward(c.Runs) {
		if run.Error != nil {
			return clipped(stepPrefix.ReplaceAllString(run.Error.Detail, ""), most)
		}
	}
	return ""
}

// stepPrefix matches the start of an error's detail: the step, which a line has no
// space for.
var stepPrefix = regexp.MustCompile(`^Step \d+, [^:]* \(line \d+\): `)

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

// wrongFilter returns the status of a list, and the message if the command rejected the
// filter. It returns other errors unchanged.
func wrongFilter(err error) (status int, rejection string, other error) {
	if err == nil {
		return http.StatusOK, "", nil
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Invalid {
		return 0, "", err
	}
	return problem.Status(e), e.Message, nil
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
	if !p.allows(r, "trace.get") {
		return nil, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", eventKey, "limit", limit))
	return found.Items, err
}
