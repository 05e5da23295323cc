package portal

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
	"sluice/command"
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
		row.Listeners = listenersOf(hook.EventKey, listening)
		view.Items = append(view.Items, row)
	}
	return p.render(w, r, http.StatusOK, "webhooks", "Webhooks", view)
}

// figuresOf returns the figures of a day by event key.
func (p *Portal) figuresOf(r *http.Request) (map[string]sluice.WebhookStats, error) {
	found, err := askIfAllowed[[]sluice.WebhookStats](p, r, "webhook.stats", args("limit", "1000"))
	figures := make(map[string]sluice.WebhookStats, len(found))
	for _, of := range found {
		figures[of.EventKey] = of
	}
	return figures, err
}

// listening returns the pipelines that listen to events.
func (p *Portal) listening(r *http.Request) ([]sluice.PipelineView, error) {
	const most = "1000"
	found, err := askIfAllowed[command.Page[sluice.PipelineView]](p, r, "pipeline.get", args("limit", most))
	return slices.DeleteFunc(found.Items, func(l sluice.PipelineView) bool { return l.Listens == "" }), err
}

// listenersOf returns the names of the pipelines that listen to an event key.
func listenersOf(key string, listening []sluice.PipelineView) (names []string) {
	for _, l := range listening {
		if sluice.KeyMatches(l.Listens, sluice.EventPrefix+key) {
			names = append(names, l.Name)
		}
	}
	return names
}

func (p *Portal) webhookConfirm(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
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

func (p *Portal) webhookDelete(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.runThen(w, r, "/webhooks?done=deleted", "webhook.delete", args("uuid", hook.UUID))
}

// providers returns the known senders, none if the user may not list them.
func (p *Portal) providers(r *http.Request) ([]sluice.ProviderView, error) {
	senders, err := askIfAllowed[command.Page[sluice.ProviderView]](p, r, "provider.get", nil)
	return senders.Items, err
}
