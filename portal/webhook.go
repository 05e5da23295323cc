package portal

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A webhookView is the page of one webhook.
type webhookView struct {
	sluice.WebhookView

	Token    bool   // the user may see the token
	Shown    bool   // the user asked for the token
	Unusual  bool   // its key breaks the convention
	Fresh    bool   // it was just created
	Stored   bool   // its signing secret was just stored
	Receive  string // URL without the token
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
	Figures   *sluice.WebhookFigures // of a day; nil if the user may not see them
}

// Waits reports whether the sender has not called yet. The page then says how to set
// it up.
func (v webhookView) Waits() bool { return v.Sender != nil && v.Sender.Arrived == nil }

// Used reports whether the page starts with the latest calls.
func (v webhookView) Used() bool { return !v.Waits() && len(v.Latest) > 0 }

// A curlLine is a way to call the webhook.
type curlLine struct {
	Title string
	Text  string // as shown
	Copy  string // with the token
}

// A sentCall is a call that someone made from a page.
type sentCall struct {
	Status    int
	Outcome   string // ok, processing or error; "" if the call was not accepted
	Malformed bool   // the payload is not the JSON that it claims to be
	Duplicate bool   // the delivery was accepted before
	TraceID   string
	Link      string // path of the call
	Answer    string
	Problem   string // why there was no call
}

// Good reports whether all went well.
func (c sentCall) Good() bool {
	return c.Status == http.StatusOK && c.Outcome == string(sluice.StatusOK) && !c.Malformed
}

func (p *Portal) webhookPage(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
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
	view.Lines = curlLines(view.Receive, view.UUID, view.Shown)
	if err := p.addCalls(r, &view); err != nil {
		return err
	}
	var err error
	if view.Sender, err = p.connect(r, &view); err != nil {
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
		view.Figures = &sluice.WebhookFigures{}
		if len(of) > 0 {
			view.Figures = &of[0].WebhookFigures
		}
	}
	listening, err := p.listening(r)
	for _, l := range listening {
		if sluice.KeyMatches(l.Listens, sluice.EventPrefix+view.EventKey) {
			view.Listeners = append(view.Listeners, l.Name)
		}
	}
	return err
}

// hiddenToken hides a token, except for its end.
func hiddenToken(token string) string { return "••••••••-" + sluice.Last6(token) }

// curlLines returns ways to call a webhook. A header comes first, because fewer places
// log it than a URL.
func curlLines(receive, token string, shown bool) []curlLine {
	lines := []curlLine{
		{Title: "Token in a header (best)", Text: "curl " + receive + " \\\n  -H 'token: TOKEN' \\\n  -H 'content-type: application/json' \\\n  -d '{\"name\": \"Ada\"}'"},
		{Title: "Token in the URL", Text: "curl '" + receive + "?token=TOKEN' \\\n  -H 'content-type: application/json' \\\n  -d '{\"name\": \"Ada\"}'"},
		{Title: "With files", Text: "curl " + receive + " \\\n  -H 'token: TOKEN' \\\n  -F 'file=@report.pdf'"},
	}
	visible := hiddenToken(token)
	if shown {
		visible = token
	}
	for i := range lines {
		lines[i].Copy = strings.ReplaceAll(lines[i].Text, "TOKEN", token)
		lines[i].Text = strings.ReplaceAll(lines[i].Text, "TOKEN", visible)
	}
	return lines
}

// webhookTry calls the webhook as an outside system would.
func (p *Portal) webhookTry(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	media, payload, sample := r.PostForm.Get("media"), formText(r, "payload"), r.PostForm.Get("sample")
	result, err := p.try(r, hook, sample, media, payload, nil)
	if err != nil && sluice.AsError(err).Kind != sluice.Invalid {
		return err
	}
	if err != nil {
		result = &sentCall{Problem: sluice.AsError(err).Message}
	}
	return p.renderWebhook(w, r, http.StatusOK, webhookView{WebhookView: hook, Sample: sample, Payload: payload, Media: media, Result: result})
}

// try makes a signed call, as the sender of a webhook would, with the headers of a sample if
// one is named.
func (p *Portal) try(r *http.Request, hook sluice.WebhookView, sample, media, payload string, header http.Header) (*sentCall, error) {
	made, err := ask[sluice.SignedCall](p, r, "webhook.sign", append(args("eventKey", hook.EventKey, "sample", sample, "contentType", media), argument("payload", command.Text(payload))))
	if err != nil {
		return nil, err
	}
	_, rawQuery, _ := strings.Cut(made.URL, "?")
	call, err := http.NewRequestWithContext(r.Context(), http.MethodPost, sluice.ReceivePath+"?"+rawQuery, strings.NewReader(made.Body))
	if err != nil {
		return nil, err
	}
	call.RemoteAddr, call.Host = r.RemoteAddr, r.Host
	maps.Copy(call.Header, header)
	for name, value := range made.Headers {
		call.Header.Set(name, value)
	}
	call.Header.Set("User-Agent", tryAgent)
	answer := &recorder{header: make(http.Header), status: http.StatusOK}
	p.Receive(answer, call)
	result := &sentCall{Status: answer.status, TraceID: answer.header.Get(sluice.TraceHeader), Answer: pretty(json.RawMessage(answer.body.Bytes()))}
	if result.TraceID != "" && p.allows(r, "trace.get") {
		result.Link = p.base + "/calls/" + url.PathEscape(result.TraceID)
	}
	result.Duplicate = answer.header.Get("svc-duplicate") != ""
	var came struct {
		Status sluice.Status `json:"status"`
	}
	if err := json.Unmarshal(answer.body.Bytes(), &came); err == nil {
		result.Outcome = string(came.Status)
	}
	media, _, _ = mime.ParseMediaType(media)
	result.Malformed = answer.status == http.StatusOK && value.IsMediaType(media) && !json.Valid([]byte(payload))
	return result, nil
}

// A recorder takes the answer to a call that the portal makes itself.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// Write implements http.ResponseWriter.
func (r *recorder) Write(content []byte) (int, error) { return r.body.Write(content) }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// SetReadDeadline does nothing: the body is here already.
func (r *recorder) SetReadDeadline(time.Time) error { return nil }
