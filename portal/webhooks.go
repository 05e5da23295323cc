package portal

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
)

// pageSize is how many items lists show at once.
const pageSize = "25"

func (p *Portal) routeWebhooks() {
	p.page("GET /webhooks", p.webhookList)
	p.page("GET /webhooks/new", p.webhookNew)
	p.form("/webhooks/new", p.webhookCreate)
	p.page("GET /webhooks/{key}", p.webhookPage)
	p.page("GET /webhooks/{key}/edit", p.webhookEdit)
	p.form("/webhooks/{key}/edit", p.webhookSave)
	p.form("/webhooks/{key}/try", p.webhookTry)
	p.form("/webhooks/{key}/secret", p.webhookSecret)
	p.page("GET /webhooks/{key}/delete", p.webhookConfirm)
	p.page("POST /webhooks/{key}/delete", p.webhookDelete)
}

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
		row := webhookRow{WebhookView: hook, WebhookFigures: of.WebhookFigures, Sender: hook.Provider}
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

// nextPage returns the path of the page after a cursor, or "".
func (p *Portal) nextPage(r *http.Request, after string) string {
	if after == "" {
		return ""
	}
	query := r.URL.Query()
	query.Del("done")
	query.Set("after", after)
	return p.base + r.URL.Path + "?" + query.Encode()
}

// A confirmation asks before something is deleted.
type confirmation struct {
	Name   string
	What   string // the word for it
	Effect string
	Used   *resourceCell // when it was last used; nil if unknown
	Hit    *consequence  // nil if nothing else is affected
	Action string        // path
	Back   string        // path

	// For several things of a list: the form's field for them, and its values.
	Several bool
	Field   string
	Values  []string
	Code    string // which they failed with, if that selects them

	Instead *instead // something that can be undone; nil if there is nothing
}

// An instead is an alternative to deleting something.
type instead struct {
	Label       string
	About       string
	Action      string // path
	Name, Value string // of the form
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
