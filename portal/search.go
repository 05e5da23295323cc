package portal

import (
	"net/url"
	"strings"

	"sluice/portal/calls"
	"sluice/portal/page"
	"sluice/portal/pipelines"

	"sluice"
)

// A searchView is what was found by a text, of all kinds of things.
type searchView struct {
	Text      string
	Webhooks  []sluice.WebhookView
	Pipelines []pipelines.Pipeline
	Calls     []sluice.CallView
	More      bool // older calls may mention it
}

// searchPage finds webhooks, pipelines and calls by a name or an id. A whole id or name leads
// straight to its page.
func searchPage(v *page.Visit) error {
	view := searchView{Text: strings.TrimSpace(v.Query("q"))}
	if view.Text == "" {
		return v.Redirect("/calls")
	}
	view.Webhooks = page.AskIfAllowed[[]sluice.WebhookView](v, "webhook.get", "search", view.Text, "limit", mostFound)
	if v.May("pipeline.get") {
		view.Pipelines, _ = pipelines.Find(v, "search", view.Text, "limit", mostFound)
	}
	live := v.Query("live") != "" // while it is typed
	if path := view.only(); path != "" && !live {
		return v.Redirect(path)
	}
	if v.May("trace.get") && !live {
		if trace := findCalls(v, &view); trace != "" {
			return v.Redirect("/calls/" + url.PathEscape(trace))
		}
	}
	return v.Show("search", "Search", view)
}

// only returns the path of the one thing that has the text as its name, "" if there is none or
// more has it in its name.
func (s *searchView) only() string {
	switch {
	case len(s.Webhooks)+len(s.Pipelines) != 1:
	case len(s.Webhooks) == 1 && s.Webhooks[0].EventKey == s.Text:
		return "/webhooks/" + s.Text
	case len(s.Pipelines) == 1 && s.Pipelines[0].Name == s.Text:
		return "/pipelines/" + s.Text
	}
	return ""
}

// mostFound is how many things of a kind a search shows.
const mostFound = "20"

// findCalls finds the calls that mention the text. It returns the trace id of the only call
// that the text is an id of.
func findCalls(v *page.Visit, view *searchView) (trace string) {
	byID, err := page.Try[sluice.TraceAnswer](v, "trace.get", "traceId", view.Text, "limit", "2")
	v.Fail(page.Ignoring(err, sluice.Invalid, sluice.NotFound))
	if len(byID.Items) == 1 || len(byID.Items) > 1 && strings.Contains(view.Text, ":") {
		return byID.Items[0].TraceID
	}
	found := calls.Find(v, "search", view.Text, "limit", mostFound)
	if len(found.Items) == 1 && found.Next == "" && found.Items[0].DeliveryID == view.Text {
		return found.Items[0].TraceID
	}
	view.Calls = found.Items
	view.More = found.Next != ""
	return ""
}
