package calls

import (
	"strconv"
	"time"

	"sluice"
	"sluice/portal/page"
)

// A callsView is the list of calls.
type callsView struct {
	callFilter

	Items    []sluice.CallView
	Next     string
	Problem  string
	Live     string     // path of the live stream; "" if the list ends in the past
	LiveBy   string     // how the page uses the stream
	Facets   *facets    // nil if there are none
	Searched *time.Time // how far back the search went, if it filled no page
}

func callsPage(v *page.Visit) error {
	view := callsView{callFilter: filterOf(v.Base, v.R.URL.Query())}
	found, err := page.Try[sluice.TraceAnswer](v, "trace.get", view.args(), "limit", callPageSize,
		"after", v.Query("after"), "facets", "true")
	view.Problem = v.WrongFilter(err)
	view.Items, view.Next = found.Items, v.Next(found.Next)
	view.Facets = (*facets)(found.Facets)
	if found.Next != "" && strconv.Itoa(len(found.Items)) != callPageSize {
		view.Searched = found.Searched
	}
	if view.growing() && v.Query("after") == "" && view.Problem == "" {
		view.Live, view.LiveBy = v.Live(view.Get("eventKey"), view.Get("trace")), "wait"
		if !view.onlyKeyAndTrace() {
			view.LiveBy = "narrowed"
		}
	}
	return v.Show("calls", "Calls", view)
}

// callPageSize is how many calls a list shows at once.
const callPageSize = "50"
