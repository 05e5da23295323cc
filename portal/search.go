package portal

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// A searchView is what was found by a text, of all kinds of things.
type searchView struct {
	Text      string
	Webhooks  []string
	Pipelines []string
	Calls     []tracedCall
	More      string // path of the list of calls
}

// searchPage finds webhooks, pipelines and calls by a name or an id. A whole id or name leads
// straight to its page.
func (p *Portal) searchPage(w http.ResponseWriter, r *http.Request) error {
	view := searchView{Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	if view.Text == "" {
		return p.redirect(w, r, "/calls")
	}
	if err := p.findNames(r, &view); err != nil {
		return err
	}
	for path, names := range map[string][]string{"/webhooks/": view.Webhooks, "/pipelines/": view.Pipelines} {
		if len(view.Webhooks)+len(view.Pipelines) == 1 && len(names) == 1 && names[0] == view.Text {
			return p.redirect(w, r, path+url.PathEscape(view.Text))
		}
	}
	if p.allows(r, "trace.get") {
		trace, err := p.findCalls(r, &view)
		if err != nil {
			return err
		}
		if trace != "" {
			return p.redirect(w, r, "/calls/"+url.PathEscape(trace))
		}
	}
	return p.render(w, r, http.StatusOK, "search", "Search", view)
}

// mostFound is how many things of a kind a search shows.
const mostFound = "20"

func (p *Portal) findNames(r *http.Request, view *searchView) error {
	if p.allows(r, "webhook.get") {
		found, _, err := fetch[sluice.WebhookView](p, r, "webhook.get", args("search", view.Text, "limit", mostFound))
		if err != nil {
			return err
		}
		for _, hook := range found {
			view.Webhooks = append(view.Webhooks, hook.EventKey)
		}
	}
	if !p.allows(r, "pipeline.get") {
		return nil
	}
	found, _, err := fetch[sluice.PipelineView](p, r, "pipeline.get", args("search", view.Text, "limit", mostFound))
	for _, l := range found {
		view.Pipelines = append(view.Pipelines, l.Name)
	}
	return err
}

// findCalls finds the calls that mention the text. It returns the trace id of the only call
// that the text is an id of.
func (p *Portal) findCalls(r *http.Request, view *searchView) (trace string, err error) {
	byID, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", view.Text, "limit", "2"))
	if err = ignoring(err, sluice.Invalid, sluice.NotFound); err != nil {
		return "", err
	}
	if len(byID.Items) == 1 || len(byID.Items) > 1 && strings.Contains(view.Text, ":") {
		return byID.Items[0].TraceID, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("search", view.Text, "limit", mostFound))
	if err != nil {
		return "", err
	}
	if len(found.Items) == 1 && found.Next == "" && found.Items[0].DeliveryID == view.Text {
		return found.Items[0].TraceID, nil
	}
	view.Calls = found.Items
	if found.Next != "" {
		view.More = p.base + "/calls?search=" + url.QueryEscape(view.Text)
	}
	return "", nil
}
