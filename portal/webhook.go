package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
)

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
