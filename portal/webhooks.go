package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
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

type webhookView struct { //nolint:recvcheck // templates call methods of the value
	sluice.WebhookView

	Token    bool   // the user may see the token
	Shown    bool   // the user asked for the token
	Unusual  bool   // its key breaks the convention
	Fresh    bool   // it was just created
	Stored   bool   // its signing secret was just stored
	Receive  string // URL without the token
	Open     string // the token in its URL
	Chart    *chart // nil if there were no calls
	Sample   string // whose headers a test call has; "" for none
	Payload  string // of a test call
	Media    string
	Medias   []string // that it can have
	Result   *sentCall
	Lines    []curlLine
	CallsURL string
	Guarded  bool // calls need more than the token

	Made      string      // the new signing secret, which is shown once
	Wrong     string      // what is wrong with the secret that was entered
	Sender    *connection // nil if the sender is not a known one
	Live      string
	Listeners []string
	Latest    []tracedCall
	Figures   *sluice.CallFigures // of a day; nil if the user may not see them
}

// Waits reports whether the sender has not called yet. The page then says how to set
// it up.
func (v webhookView) Waits() bool { return v.Sender != nil && v.Sender.Arrived == nil }

// Used reports whether the page starts with the latest calls.
func (v webhookView) Used() bool { return !v.Waits() && len(v.Latest) > 0 }

func (p *Portal) webhookPage(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.renderWebhook(w, r, http.StatusOK, webhookView{WebhookView: hook})
}

// renderWebhook completes the page of a webhook and shows it.
func (p *Portal) renderWebhook(w http.ResponseWriter, r *http.Request, status int, view webhookView) error {
	query := r.URL.Query()
	view.Token = sluice.UserFrom(r.Context()).May(sluice.MaySeeTokens)
	view.Shown = view.Token && query.Get("show") == "token"
	view.Unusual, view.Fresh, view.Stored = query.Get("unusual") != "", query.Get("done") == "created", query.Get("done") == "secret"
	view.CallsURL = p.base + "/calls?eventKey=" + url.QueryEscape(view.EventKey)
	view.Receive, _, _ = strings.Cut(view.WebhookURL, "?")
	view.Open = view.OpenToken()
	view.Lines = curlLines(view.Receive, view.Open, view.Shown)
	if err := p.addCalls(r, &view); err != nil {
		return err
	}
	var err error
	if view.Sender, err = p.connect(r, view.WebhookView, view.Made != "", view.Latest); err != nil {
		return err
	}
	view.addTestCall(query.Get("sample"))
	view.Guarded = view.IsSigned() || view.Sender != nil && view.Sender.Signed
	if p.allows(r, "trace.get") {
		view.Live = p.liveFrom(view.EventKey, "")
	}
	return p.render(w, r, status, "webhook", view.EventKey, view)
}

// addTestCall proposes a test call: the sample of the sender that was asked for, or the
// first one. A call that was just sent stays.
func (v *webhookView) addTestCall(name string) {
	if v.Media == "" {
		v.Payload, v.Media = `{"name": "Ada", "budget": 12000}`, "application/json"
		if v.Sender != nil {
			for i, s := range v.Sender.Samples {
				if i == 0 || s.Name == name {
					v.Sample, v.Payload, v.Media = s.Name, s.Body, s.ContentType
				}
			}
		}
	}
	v.Medias = []string{"application/json", "text/plain", "application/x-www-form-urlencoded"}
	if !slices.Contains(v.Medias, v.Media) {
		v.Medias = append(v.Medias, v.Media)
	}
}

// addCalls adds a webhook's latest calls, its figures and its listeners to its page.
func (p *Portal) addCalls(r *http.Request, view *webhookView) (err error) {
	const latest = "5"
	if view.Latest, err = p.latest(r, view.EventKey, latest); err != nil {
		return err
	}
	if p.allows(r, "webhook.stats") {
		of, err := ask[[]sluice.WebhookStats](p, r, "webhook.stats", args("eventKey", view.EventKey))
		if err != nil {
			return err
		}
		if view.Chart, err = p.webhookChart(r, view.EventKey); err != nil {
			return err
		}
		view.Figures = &sluice.CallFigures{}
		if len(of) > 0 {
			view.Figures = &of[0].CallFigures
		}
	}
	listening, err := p.listening(r)
	view.Listeners = listenersOf(view.EventKey, listening)
	return err
}

// webhookTry calls the webhook as an outside system would.
func (p *Portal) webhookTry(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	media, payload, sample := r.PostForm.Get("media"), formText(r, "payload"), r.PostForm.Get("sample")
	result, err := p.try(r, hook, sample, media, payload, nil)
	if err != nil && sluice.AsError(err).Kind != sluice.Invalid {
		return err
	}
	if err != nil {
		result = &sentCall{Problem: sluice.AsError(err).Message}
	}
	listening, err := p.listening(r)
	if err != nil {
		return err
	}
	result.Unheard = len(listenersOf(hook.EventKey, listening)) == 0 && p.allows(r, "pipeline.get")
	return p.renderWebhook(w, r, http.StatusOK, webhookView{WebhookView: hook, Sample: sample, Payload: payload, Media: media, Result: result})
}

// A tokensView is the page with the tokens of a webhook, where its URL is renewed.
type tokensView struct {
	sluice.WebhookView

	Receive string // URL without the token
	Several bool   // are open, so that one can be deleted
	Entered url.Values
	Problem string
}

func (p *Portal) tokensPage(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.renderTokens(w, r, http.StatusOK, tokensView{WebhookView: hook})
}

func (p *Portal) renderTokens(w http.ResponseWriter, r *http.Request, status int, view tokensView) error {
	view.Receive, _, _ = strings.Cut(view.WebhookURL, "?")
	open := 0
	for _, t := range view.Tokens {
		if t.Open {
			open++
		}
	}
	view.Several = open > 1
	return p.render(w, r, status, "webhook_tokens", "URLs of "+view.EventKey, view)
}

// tokenAdd makes a new URL, or opens the first one again.
func (p *Portal) tokenAdd(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	cmd, _ := p.Commands.Find("webhook.token.add")
	given := append(argsOf(cmd, r.PostForm), argument("eventKey", command.Text(hook.EventKey)))
	if _, err := p.run(r, "webhook.token.add", given); err != nil {
		if !isMistake(err) {
			return err
		}
		return p.renderTokens(w, r, problem.Status(err), tokensView{WebhookView: hook, Entered: r.PostForm, Problem: sluice.AsError(err).Message})
	}
	return p.redirect(w, r, tokensPath(hook)+"?done=added")
}

func tokensPath(hook sluice.WebhookView) string {
	return "/webhooks/" + url.PathEscape(hook.EventKey) + "/tokens"
}

func (p *Portal) tokenConfirm(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	last6 := r.PathValue("last6")
	return p.render(w, r, http.StatusOK, "confirm", "Delete a URL of "+hook.EventKey, confirmation{
		Name: "URL of " + hook.EventKey + " whose token ends in " + last6, What: "URL", Action: tokensPath(hook) + "/" + url.PathEscape(last6) + "/delete", Back: tokensPath(hook),
		Effect: "Calls with it are rejected at once, as calls with an unknown token are, and are not kept. Has the sender got another one?",
	})
}

func (p *Portal) tokenDelete(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.runThen(w, r, tokensPath(hook)+"?done=deleted", "webhook.token.delete", args("eventKey", hook.EventKey, "token", r.PathValue("last6")))
}
