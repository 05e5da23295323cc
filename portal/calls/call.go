package calls

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/portal/page"
	"sluice/wording"
)

type callView struct {
	sluice.CallView

	Runs     []RunView
	Failed   *RunView // the latest run that failed
	Mend     *RunView // the latest one whose pipeline the user can edit
	Replays  []sluice.CallView
	Checked  *checked          // nil if it is unknown
	Followed []sluice.CallView // events that this one caused
	Picture  *timeline
	Text     string // the payload, formatted
	Raw      string // the payload as it came, if that differs
	Curl     string // a command that repeats the call; "" if there is none
	Editable bool
	Rejected *quarantined // the stored call, if it was rejected
	Live     string
}

func callPage(v *page.Visit, items []sluice.CallView) error {
	view := callView{CallView: items[0], Followed: items[1:], Picture: picture(items)}
	view.Text = payloadText(view.CallView)
	addBody(v, &view)
	addRuns(v, &view)
	if view.Status == sluice.StatusProcessing || view.Status == sluice.StatusRetrying {
		view.Live = v.Live("", view.TraceID)
	}
	if view.Quarantine != "" && v.May("quarantine.get") {
		view.Rejected = keptCall(v, view.Quarantine)
	}
	return v.Show("call", "Call "+view.TraceID, view)
}

// addBody adds the body of a call as it came, if it is known, and how to send it again.
func addBody(v *page.Visit, view *callView) {
	body, whole := sentBody(view.CallView)
	if !whole {
		return
	}
	if fits := page.Shortened(body, page.MaxText) == body; fits && body != view.Text {
		view.Raw = body
	}
	if curl := curlOfCall(v.BaseURL+sluice.ReceivePath, view.CallView); view.EventKey != "" && view.Method != "" &&
		page.Shortened(curl, page.MaxText) == curl {
		view.Curl = curl
	}
	view.Editable = view.EventKey != "" && v.User.May(sluice.MaySeeTokens) && v.May("webhook.sign")
}

// addRuns adds the runs and the replays of a call, and how its signature was checked.
func addRuns(v *page.Visit, view *callView) {
	view.Runs = folded(runsOf(v, view.CallView))
	for i := range view.Runs {
		if view.Runs[i].Error != nil {
			view.Failed = &view.Runs[i]
		}
		if view.Runs[i].EditURL != "" {
			mend := view.Runs[i]
			view.Mend = &mend
		}
	}
	for i := range view.Runs {
		if view.Mend != nil && view.Runs[i].EditURL == view.Mend.EditURL {
			view.Runs[i].EditURL = "" // the head of the page has the link
		}
	}
	view.Replays, view.Checked = replaysOf(v, view.CallView), checkedCall(v, view.CallView)
}

// callRetry tries the event of a call now, which waits for its next attempt.
func callRetry(v *page.Visit) error {
	trace := v.Named("trace")
	return v.RunThen(callPath(trace)+"?done=retried", "event.retry", "traceId", trace)
}

// callEraseConfirm asks before a call is erased.
func callEraseConfirm(v *page.Visit) error {
	trace := v.Named("trace")
	found := page.Ask[sluice.Erased](v, sluice.EraseCommand, "traceId", trace, "dryRun", "true", "force", "true")
	effect := "Its payload, headers and results are gone for good, also if a pipeline still works on it. That there " +
		"was a call remains."
	if others := len(found.Items) - 1; others > 0 {
		effect += " " + wording.Plural(others, "replay or copy goes", "replays and copies go") + " with it."
	}
	return v.Show("confirm", "Erase "+trace, page.Confirmation{
		Verb: "Erase", Name: trace, What: "call", Back: callPath(trace), Effect: effect,
	})
}

func callErase(v *page.Visit) error {
	trace := v.Named("trace")
	return v.RunThen(callPath(trace)+"?done=erased", sluice.EraseCommand, "traceId", trace, "force", "true")
}

func callReplay(v *page.Visit) error {
	again := page.Ask[sluice.Replays](v, "event.replay", "traceId", v.Named("trace"))
	target := "/calls"
	if len(again.Items) > 0 && again.Items[0].NewTraceID != "" {
		target += "/" + url.PathEscape(again.Items[0].NewTraceID)
	}
	return v.Redirect(target + "?done=replayed")
}

// replaysOf returns the recent replays of a failed call.
func replaysOf(v *page.Visit, c sluice.CallView) []sluice.CallView {
	if c.Status != sluice.StatusError && c.Status != sluice.StatusRecovered || c.EventKey == "" {
		return nil
	}
	const looked = "100"
	found := Find(v, "eventKey", c.EventKey, "from", c.Time.Format(time.RFC3339Nano), "limit", looked)
	return slices.DeleteFunc(found.Items, func(other sluice.CallView) bool { return other.ReplayOf != c.TraceID })
}

// A checked says how the signature of a call was checked.
type checked struct {
	Sender string // who signed it; "" if the sender is not a known one
	Valid  bool   // false if nothing was checked
}

// checkedCall returns how the signature of a call was checked. It returns nil if the
// webhook has changed since.
func checkedCall(v *page.Visit, c sluice.CallView) *checked {
	if c.Method == "" || c.EventKey == "" || c.ReplayOf != "" || c.Admitted || !v.May("webhook.get") {
		return nil
	}
	hook, err := page.Try[sluice.WebhookView](v, "webhook.get", "eventKey", c.EventKey)
	if err != nil || !hook.Updated.Before(c.Time) {
		v.Fail(page.Ignoring(err, sluice.NotFound))
		return nil
	}
	check := &checked{Valid: hook.IsSigned()}
	if hook.Provider != "" {
		check.Sender = page.AskIfAllowed[sluice.ProviderView](v, "provider.get", "provider", hook.Provider).Title
	}
	return check
}

// callsOf returns the call that the path names, and the events that it caused.
func callsOf(v *page.Visit) []sluice.CallView {
	trace := v.Named("trace")
	found := Find(v, "traceId", trace, "limit", "20").Items
	if len(found) == 0 || !strings.Contains(trace, ":") {
		v.Fail(sluice.CodeCallUnknown.Errorf("There is no call with that trace id, or it is no longer kept."))
	}
	slices.SortStableFunc(found, func(a, b sluice.CallView) int { return a.Time.Compare(b.Time) })
	return found
}
