package portal

import (
	"net/url"
	"strings"

	"sluice/command"
	"sluice/portal/calls"
	"sluice/portal/page"

	"sluice"
)

// A searchView is what was found by a text, of all kinds of things.
type searchView struct {
	Text      string
	Webhooks  []string
	Pipelines []string
	Calls     []sluice.CallView
	More      string // path of the list of calls
}

// searchPage finds webhooks, pipelines and calls by a name or an id. A whole id or name leads
// straight to its page.
func searchPage(v *page.Visit) error {
	view := searchView{Text: strings.TrimSpace(v.Query("q"))}
	if view.Text == "" {
		return v.Redirect("/calls")
	}
	if err := findNames(v, &view); err != nil {
		return err
	}
	for path, names := range map[string][]string{"/webhooks/": view.Webhooks, "/pipelines/": view.Pipelines} {
		if len(view.Webhooks)+len(view.Pipelines) == 1 && len(names) == 1 && names[0] == view.Text {
			return v.Redirect(path + url.PathEscape(view.Text))
		}
	}
	if v.May("trace.get") {
		trace, err := findCalls(v, &view)
		if err != nil {
			return err
		}
		if trace != "" {
			return v.Redirect("/calls/" + url.PathEscape(trace))
		}
	}
	return v.Show("search", "Search", view)
}

// mostFound is how many things of a kind a search shows.
const mostFound = "20"

func findNames(v *page.Visit, view *searchView) error {
	hooks, err := page.AskIfAllowed[command.Page[sluice.WebhookView]](v, "webhook.get", "search", view.Text,
		"limit", mostFound)
	if err != nil {
		return err
	}
	for _, hook := range hooks.Items {
		view.Webhooks = append(view.Webhooks, hook.EventKey)
	}
	found, err := page.AskIfAllowed[command.Page[sluice.PipelineView]](v, "pipeline.get", "search", view.Text,
		"limit", mostFound)
	for _, l := range found.Items {
		view.Pipelines = append(view.Pipelines, l.Name)
	}
	return err
}

// findCalls finds the calls that mention the text. It returns the trace id of the only call
// that the text is an id of.
func findCalls(v *page.Visit, view *searchView) (trace string, err error) {
	byID, err := calls.Find(v, "traceId", view.Text, "limit", "2")
	if err = page.Ignoring(err, sluice.Invalid, sluice.NotFound); err != nil {
		return "", err
	}
	if len(byID.Items) == 1 || len(byID.Items) > 1 && strings.Contains(view.Text, ":") {
		return byID.Items[0].TraceID, nil
	}
	found, err := calls.Find(v, "search", view.Text, "limit", mostFound)
	if err != nil {
		return "", err
	}
	if len(found.Items) == 1 && found.Next == "" && found.Items[0].DeliveryID == view.Text {
		return found.Items[0].TraceID, nil
	}
	view.Calls = found.Items
	if found.Next != "" {
		view.More = v.Base + "/calls?search=" + url.QueryEscape(view.Text)
	}
	return "", nil
}
