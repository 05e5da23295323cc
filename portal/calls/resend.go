package calls

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// A resendView is the page where people edit a call and send it again.
type resendView struct {
	TraceID  string
	EventKey string
	Signed   bool // the portal signs the call
	Media    string
	Headers  string // one per line
	Payload  string
	Problem  string
	Result   *Sent
}

// resendPage shows a form with what was sent.
func resendPage(v *page.Visit, items []sluice.CallView) error {
	c := items[0]
	body, whole := sentBody(c)
	if c.EventKey == "" || !whole {
		return sluice.CodeCallNotEditable.Errorf("What this call has sent can't be edited: it is not kept, " +
			"no text, or you may not see it. Replay it as it is.")
	}
	hook := page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", c.EventKey)
	view := resendView{
		TraceID: c.TraceID, EventKey: c.EventKey, Signed: hook.IsSigned(), Media: c.ContentType, Payload: body,
	}
	var lines bytes.Buffer
	if !strings.Contains(strings.TrimSpace(body), "\n") && json.Indent(&lines, []byte(body), "", "  ") == nil {
		view.Payload = lines.String() // one long line is hard to edit
	}
	for _, h := range page.Headers(c.Headers) {
		if !page.IsConnection(h.Name) && !strings.EqualFold(hook.Dedupe, "header:"+h.Name) {
			view.Headers += h.Name + ": " + h.Value + "\n"
		}
	}
	return v.Show("resend", "Edit and send again", view)
}

// resend calls the webhook with the edited request.
func resend(v *page.Visit) error {
	view := resendView{
		TraceID: v.Named("trace"), EventKey: v.Entered("eventKey"), Media: v.Entered("media"),
		Headers: v.Entered("headers"), Payload: v.Entered("payload"),
	}
	hook := page.Ask[sluice.WebhookView](v, "webhook.get", "eventKey", view.EventKey)
	view.Signed = hook.IsSigned()
	header, err := parseHeaders(view.Headers)
	if err == nil {
		view.Result, err = Send(v, hook, "", view.Media, view.Payload, header)
	}
	if err != nil && !sluice.Invalid.Is(err) {
		return err
	}
	if err != nil {
		view.Problem = sluice.AsError(err).Message
	}
	if view.Result != nil && view.Result.Status == http.StatusOK && view.Result.TraceID != "" {
		return v.Redirect(callPath(view.Result.TraceID) + "?done=sent")
	}
	return v.Show("resend", "Edit and send again", view)
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
			return nil, sluice.CodeHeaderMalformed.Errorf(
				"Line %d of the headers is not written as name: value.", number+1)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, nil
}
