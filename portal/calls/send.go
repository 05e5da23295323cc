package calls

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
	"sluice/value"
)

// A Sent is a call that someone made from a page.
type Sent struct {
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
func (c Sent) Good() bool {
	return c.Status == http.StatusOK && c.Outcome == string(sluice.StatusOK) && !c.Malformed
}

// Send makes a signed call, as the sender of a webhook would, with the headers of a sample if
// one is named.
func Send(v *page.Visit, hook sluice.WebhookView, sample, media, payload string, header http.Header) (*Sent, error) {
	made, err := page.Try[sluice.SignedCall](v, "webhook.sign", "eventKey", hook.EventKey, "sample", sample,
		"contentType", media, "payload", command.Text(payload))
	if err != nil {
		return nil, err
	}
	_, rawQuery, _ := strings.Cut(made.URL, "?")
	call, err := http.NewRequestWithContext(v.R.Context(), http.MethodPost, sluice.ReceivePath+"?"+rawQuery,
		strings.NewReader(made.Body))
	if err != nil {
		return nil, err
	}
	call.RemoteAddr, call.Host = v.R.RemoteAddr, v.R.Host
	maps.Copy(call.Header, header)
	for name, value := range made.Headers {
		call.Header.Set(name, value)
	}
	call.Header.Set("User-Agent", TryAgent)
	answer := newRecorder()
	v.Receive(answer, call)
	result := &Sent{
		Status: answer.status, TraceID: answer.header.Get(sluice.TraceHeader),
		Answer: page.Pretty(json.RawMessage(answer.body.Bytes())),
	}
	if result.TraceID != "" && v.May("trace.get") {
		result.Link = v.Base + callPath(result.TraceID)
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

func newRecorder() *recorder { return &recorder{header: make(http.Header), status: http.StatusOK} }

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// Write implements http.ResponseWriter.
func (r *recorder) Write(content []byte) (int, error) { return r.body.Write(content) }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// SetReadDeadline does nothing: the body is here already.
func (r *recorder) SetReadDeadline(time.Time) error { return nil }

// TryAgent is the User-Agent of calls that are sent from a page.
const TryAgent = "sluice portal"
