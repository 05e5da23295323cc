package portal

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A curlLine is a way to call the webhook.
type curlLine struct {
	Title string
	Text  string // as shown
	Copy  string // with the token
}

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

// hiddenToken hides a token, except for its end.
func hiddenToken(token string) string { return "••••••••-" + sluice.Last6(token) }

// A sentCall is a call that someone made from a page.
type sentCall struct {
	Status    int
	Outcome   string // ok, processing or error; "" if the call was not accepted
	Malformed bool   // the payload is not the JSON that it claims to be
	Duplicate bool   // the delivery was accepted before
	Unheard   bool   // no pipeline listens to the webhook
	TraceID   string
	Link      string // path of the call
	Answer    string
	Problem   string // why there was no call
}

// Good reports whether all went well.
func (c sentCall) Good() bool {
	return c.Status == http.StatusOK && c.Outcome == string(sluice.StatusOK) && !c.Malformed
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
	result.Outcome = outcomeOf(hook, answer)
	media, _, _ = mime.ParseMediaType(media)
	result.Malformed = answer.status == http.StatusOK && value.IsMediaType(media) && !json.Valid([]byte(payload))
	return result, nil
}

// outcomeOf returns what became of a call, as far as its answer tells; "" if it was not
// accepted.
func outcomeOf(hook sluice.WebhookView, answer *recorder) string {
	var came struct {
		Status sluice.Status `json:"status"`
	}
	switch {
	case answer.header.Get(sluice.CorrelationHeader) == "" && answer.header.Get("svc-duplicate") == "":
		return ""
	case hook.Answer == sluice.AnswerResult || answer.status == http.StatusAccepted:
		_ = json.Unmarshal(answer.body.Bytes(), &came) // without one nothing is known
		return string(came.Status)
	case hook.Answer == sluice.AnswerEmpty:
		return string(sluice.StatusProcessing)
	case answer.status >= http.StatusBadRequest:
		return string(sluice.StatusError)
	}
	return string(sluice.StatusOK)
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

// tryAgent is the User-Agent of calls that are sent from a page.
const tryAgent = "sluice portal"
