package portal

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
)

// webhook returns the webhook that the path names.
func (p *Portal) webhook(r *http.Request) (sluice.WebhookView, error) {
	return ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", r.PathValue("key")))
}

type webhookList struct {
	Search string
	Items  []webhookRow
	Counts bool   // the user may see the figures
	Next   string // path of the next page
}

// A webhookRow is a webhook in the list, with the figures of a day.
type webhookRow struct {
	sluice.WebhookView
	sluice.WebhookFigures

	Sender    string // title
	Line      sparkline
	Listeners []string // pipelines
}

func (p *Portal) webhookList(w http.ResponseWriter, r *http.Request) error {
	search := r.URL.Query().Get("search")
	items, next, err := fetch[sluice.WebhookView](p, r, "webhook.get", args("search", search, "after", r.URL.Query().Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	view := webhookList{Search: search, Counts: p.allows(r, "webhook.stats"), Next: p.nextPage(r, next)}
	figures, err := p.figuresOf(r)
	if err != nil {
		return err
	}
	listening, err := p.listening(r)
	if err != nil {
		return err
	}
	senders, err := p.providers(r)
	if err != nil {
		return err
	}
	for _, hook := range items {
		of := figures[hook.EventKey]
		row := webhookRow{WebhookView: hook, WebhookFigures: sluice.WebhookFigures{CallFigures: of.CallFigures, Last: of.Last}, Sender: hook.Provider}
		if i := slices.IndexFunc(senders, func(s sluice.ProviderView) bool { return s.Provider == hook.Provider }); i >= 0 {
			row.Sender = senders[i].Title
		}
		if of.Hours != nil {
			row.Line = newSparkline(of.Hours)
		}
		for _, l := range listening {
			if sluice.KeyMatches(l.Listens, sluice.EventPrefix+hook.EventKey) {
				row.Listeners = append(row.Listeners, l.Name)
			}
		}
		view.Items = append(view.Items, row)
	}
	return p.render(w, r, http.StatusOK, "webhooks", "Webhooks", view)
}

// figuresOf returns the figures of a day by event key.
func (p *Portal) figuresOf(r *http.Request) (map[string]sluice.WebhookStats, error) {
	if !p.allows(r, "webhook.stats") {
		return nil, nil
	}
	found, err := ask[[]sluice.WebhookStats](p, r, "webhook.stats", args("limit", "1000"))
	figures := make(map[string]sluice.WebhookStats, len(found))
	for _, of := range found {
		figures[of.EventKey] = of
	}
	return figures, err
}

// listening returns the pipelines that listen to events.
func (p *Portal) listening(r *http.Request) ([]sluice.PipelineView, error) {
	if !p.allows(r, "pipeline.get") {
		return nil, nil
	}
	const most = "1000"
	found, _, err := fetch[sluice.PipelineView](p, r, "pipeline.get", args("limit", most))
	return slices.DeleteFunc(found, func(l sluice.PipelineView) bool { return l.Listens == "" }), err
}

func (p *Portal) webhookConfirm(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	path := "/webhooks/" + url.PathEscape(hook.EventKey)
	asked := confirmation{
		Name: hook.EventKey, What: "webhook", Action: path + "/delete", Back: path,
		Effect: "It can’t be undone: calls with its token are rejected from then on, and the token never comes back. Events that were accepted stay.",
	}
	if !hook.Disabled && p.allows(r, "webhook.put") {
		asked.Instead = &instead{"Disable it instead", "Disabled, it rejects calls and keeps them in the quarantine until you enable it again.", path + "/edit", "disabled", "true"}
	}
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+hook.EventKey, asked)
}

func (p *Portal) webhookDelete(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	if _, err := p.run(r, "webhook.delete", args("uuid", hook.UUID)); err != nil {
		return err
	}
	p.redirect(w, r, "/webhooks?done=deleted")
	return nil
}

// providers returns the known senders, none if the user may not list them.
func (p *Portal) providers(r *http.Request) ([]sluice.ProviderView, error) {
	if !p.allows(r, "provider.get") {
		return nil, nil
	}
	senders, _, err := fetch[sluice.ProviderView](p, r, "provider.get", nil)
	return senders, err
}
