package portal

import (
	"net/http"
	"net/url"

	"sluice"
)

// A callView is the page of one call.
type callView struct {
	tracedCall

	Runs      []shownRun
	Failed    *shownRun // the latest run that failed
	Mend      *shownRun // the latest one whose pipeline the user can edit
	Outside   bool      // the system that it called is at fault, rather than the source
	Replays   []tracedCall
	Checked   *checked     // nil if it is unknown
	Followed  []tracedCall // events that this one caused
	Picture   *timeline
	Seen      bool // the user may see payloads
	Headers   []sluice.Header
	Text      string // the payload, formatted
	Raw       string // the payload as it came, if that differs
	Curl      string // a command that repeats the call; "" if there is none
	Editable  bool
	Rejected  *quarantined // the stored call, if it was rejected
	Result    string
	Live      string
	CallsPath string // list of the webhook's calls
}

func (p *Portal) callPage(w http.ResponseWriter, r *http.Request) error {
	items, err := p.callsOf(r)
	if err != nil {
		return err
	}
	user := sluice.UserFrom(r.Context())
	view := callView{tracedCall: items[0], Followed: items[1:], Picture: picture(items), Seen: user.May(sluice.MaySeePayload)}
	view.Headers = shownHeaders(view.tracedCall.Headers)
	view.Text = payloadText(view.tracedCall)
	if body, whole := sentBody(view.tracedCall); whole {
		if fits := shortened(body, maxShown) == body; fits && body != view.Text {
			view.Raw = body
		}
		if curl := curlOfCall(p.BaseURL+sluice.ReceivePath, view.tracedCall); view.EventKey != "" && view.Method != "" && shortened(curl, maxShown) == curl {
			view.Curl = curl
		}
		view.Editable = view.EventKey != "" && user.May(sluice.MaySeeTokens) && p.may(user, "webhook.sign")
	}
	if err := p.addRuns(r, &view); err != nil {
		return err
	}
	if view.tracedCall.Result != nil {
		view.Result = pretty(view.tracedCall.Result)
	}
	if view.Status == sluice.StatusProcessing || view.Status == sluice.StatusRetrying {
		view.Live = p.liveFrom("", view.TraceID)
	}
	if view.Quarantine != "" && p.may(user, "quarantine.get") {
		if view.Rejected, err = p.kept(r, view.Quarantine); err != nil && sluice.AsError(err).Kind != sluice.NotFound {
			return err
		}
	}
	view.CallsPath = p.base + "/calls?eventKey=" + url.QueryEscape(view.EventKey)
	return p.render(w, r, http.StatusOK, "call", "Call "+view.TraceID, view)
}

// addRuns adds the runs and the replays of a call, and how its signature was checked.
func (p *Portal) addRuns(r *http.Request, view *callView) (err error) {
	runs, err := p.shownRuns(r, view.tracedCall)
	if err != nil {
		return err
	}
	view.Runs = folded(runs)
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
	view.Outside = view.Failed != nil && isOutside(view.Failed.Error)
	if view.Replays, err = p.replaysOf(r, view.tracedCall); err != nil {
		return err
	}
	view.Checked, err = p.checkedCall(r, view.tracedCall)
	return err
}

// callRetry tries the event of a call now, which waits for its next attempt.
func (p *Portal) callRetry(w http.ResponseWriter, r *http.Request) error {
	trace := r.PathValue("trace")
	if _, err := ask[sluice.Retries](p, r, "event.retry", args("traceId", trace)); err != nil {
		return err
	}
	p.redirect(w, r, "/calls/"+url.PathEscape(trace)+"?done=retried")
	return nil
}

// callReplay replays a call.
func (p *Portal) callReplay(w http.ResponseWriter, r *http.Request) error {
	again, err := ask[sluice.Replays](p, r, "event.replay", args("traceId", r.PathValue("trace")))
	if err != nil {
		return err
	}
	target := "/calls"
	if len(again.Items) > 0 && again.Items[0].NewTraceID != "" {
		target += "/" + url.PathEscape(again.Items[0].NewTraceID)
	}
	p.redirect(w, r, target+"?done=replayed")
	return nil
}
