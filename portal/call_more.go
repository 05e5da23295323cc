package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
)

// callNext redirects to the next call of the same webhook.
func (p *Portal) callNext(w http.ResponseWriter, r *http.Request, c tracedCall) error {
	other, err := nextAfter(c.Time, time.Now(), func(from, to time.Time) (found []tracedCall, more bool, err error) {
		for after := ""; ; {
			page, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", c.EventKey, "from", from.Format(time.RFC3339Nano), "to", to.Format(time.RFC3339Nano), "limit", "100", "after", after))
			if err != nil || len(page.Items) > 0 || page.Next == "" {
				return page.Items, page.Next != "", err
			}
			after = page.Next // the search stopped early, at its bound
		}
	})
	return p.callBeside(w, r, c, other, err)
}

// nextAfter returns the first call after a time, or nil. find returns the newest calls
// of a span, newest first, and whether there are more. So the span grows until it has
// calls, and is halved until it has few.
func nextAfter(at, now time.Time, find func(from, to time.Time) (found []tracedCall, more bool, err error)) (*tracedCall, error) {
	const firstSpan, largerSpan, shortest = time.Minute, 8, time.Millisecond
	from, to := at.Add(1), at.Add(firstSpan)
	found, more, err := find(from, to)
	for span := firstSpan * largerSpan; err == nil && len(found) == 0 && to.Before(now); span *= largerSpan {
		from, to = to, at.Add(span)
		found, more, err = find(from, to)
	}
	for err == nil && more && to.Sub(from) > shortest {
		middle := from.Add(to.Sub(from) / 2)
		earlier, stillMore, failed := find(from, middle)
		if err = failed; len(earlier) > 0 {
			found, more, to = earlier, stillMore, middle
		} else {
			from = middle
		}
	}
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[len(found)-1], nil
}

// callPrevious redirects to the previous call of the same webhook.
func (p *Portal) callPrevious(w http.ResponseWriter, r *http.Request, c tracedCall) error {
	var other *tracedCall
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", c.EventKey, "to", c.Time.Format(time.RFC3339Nano), "limit", "10"))
	if i := slices.IndexFunc(found.Items, func(other tracedCall) bool { return other.Time.Before(c.Time) }); i >= 0 {
		other = &found.Items[i]
	}
	return p.callBeside(w, r, c, other, err)
}

// callBeside redirects from a call to another, or says that there is none.
func (p *Portal) callBeside(w http.ResponseWriter, r *http.Request, c tracedCall, other *tracedCall, err error) error {
	switch {
	case err != nil:
		return err
	case other == nil:
		return p.redirect(w, r, "/calls/"+url.PathEscape(c.TraceID)+"?done=last")
	}
	return p.redirect(w, r, "/calls/"+url.PathEscape(other.TraceID))
}

// call returns the call that the path names.
func (p *Portal) call(r *http.Request) (tracedCall, error) {
	items, err := p.callsOf(r)
	if err != nil {
		return tracedCall{}, err
	}
	return items[0], nil
}

// callsOf returns the call that the path names, and the events that it caused.
func (p *Portal) callsOf(r *http.Request) ([]tracedCall, error) {
	trace := r.PathValue("trace")
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", trace, "limit", "20"))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 || !strings.Contains(trace, ":") {
		return nil, sluice.Errorf(sluice.CodeCallUnknown, "There is no call with that trace id, or it is no longer kept.")
	}
	slices.SortStableFunc(found.Items, func(a, b tracedCall) int { return a.Time.Compare(b.Time) })
	return found.Items, nil
}

// A resendView is the page where people edit a call and send it again.
type resendView struct {
	TraceID  string
	EventKey string
	Signed   bool // the portal signs the call
	Media    string
	Headers  string // one per line
	Payload  string
	Problem  string
	Result   *sentCall
}

// callEdit shows a form with what was sent.
func (p *Portal) callEdit(w http.ResponseWriter, r *http.Request, c tracedCall) error {
	body, whole := sentBody(c)
	if c.EventKey == "" || !whole {
		return sluice.Errorf(sluice.CodeCallNotEditable, "What this call has sent can't be edited: it is not kept, no text, or you may not see it. Replay it as it is.")
	}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", c.EventKey))
	if err != nil {
		return err
	}
	view := resendView{TraceID: c.TraceID, EventKey: c.EventKey, Signed: hook.IsSigned(), Media: c.ContentType, Payload: body}
	var lines bytes.Buffer
	if !strings.Contains(strings.TrimSpace(body), "\n") && json.Indent(&lines, []byte(body), "", "  ") == nil {
		view.Payload = lines.String() // one long line is hard to edit
	}
	for _, h := range shownHeaders(c.Headers) {
		if !isConnection(h.Name) && !strings.EqualFold(hook.Dedupe, "header:"+h.Name) {
			view.Headers += h.Name + ": " + h.Value + "\n"
		}
	}
	return p.render(w, r, http.StatusOK, "resend", "Edit and send again", view)
}

// callResend calls the webhook with the edited request.
func (p *Portal) callResend(w http.ResponseWriter, r *http.Request) error {
	view := resendView{TraceID: r.PathValue("trace"), EventKey: r.PostForm.Get("eventKey"), Media: r.PostForm.Get("media"), Headers: formText(r, "headers"), Payload: formText(r, "payload")}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", view.EventKey))
	if err != nil {
		return err
	}
	view.Signed = hook.IsSigned()
	header, err := parseHeaders(view.Headers)
	if err == nil {
		view.Result, err = p.try(r, hook, "", view.Media, view.Payload, header)
	}
	if err != nil && sluice.AsError(err).Kind != sluice.Invalid {
		return err
	}
	if err != nil {
		view.Problem = sluice.AsError(err).Message
	}
	if view.Result != nil && view.Result.Status == http.StatusOK && view.Result.TraceID != "" {
		return p.redirect(w, r, "/calls/"+url.PathEscape(view.Result.TraceID)+"?done=sent")
	}
	return p.render(w, r, http.StatusOK, "resend", "Edit and send again", view)
}

// parseHeaders reads headers, one per line.
func parseHeaders(text string) (http.Header, error) {
	header := make(http.Header)
	for number, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\"(),/;<=>?@[]{}\\") {
			return nil, sluice.Errorf(sluice.CodeHeaderMalformed, "Line %d of the headers is not written as name: value.", number+1)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, nil
}

// curlOfCall returns a curl command that repeats a call, with TOKEN for its token.
func curlOfCall(receive string, c tracedCall) string {
	body, whole := sentBody(c)
	if !whole {
		return ""
	}
	first := "curl " + shellQuoted(receive)
	if c.Method != http.MethodPost {
		first += " -X " + c.Method
	}
	lines := []string{first, "-H 'token: TOKEN'"}
	if c.ContentType != "" {
		lines = append(lines, "-H "+shellQuoted("content-type: "+c.ContentType))
	}
	for _, h := range shownHeaders(c.Headers) {
		if !isConnection(h.Name) || strings.Contains(h.Name, "signature") {
			lines = append(lines, "-H "+shellQuoted(h.Name+": "+h.Value))
		}
	}
	if body != "" {
		lines = append(lines, "--data-binary "+shellQuoted(body))
	}
	return strings.Join(lines, " \\\n  ")
}

func shellQuoted(text string) string {
	return fmt.Sprintf("'%s'", strings.ReplaceAll(text, "'", `'\''`))
}
