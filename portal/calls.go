package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice"
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
	if !p.allows(r, "trace.get") {
		return nil, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", eventKey, "limit", limit))
	return found.Items, err
}
