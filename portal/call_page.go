package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/wording"
)

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

func (p *Portal) callPage(w http.ResponseWriter, r *http.Request, items []tracedCall) (err error) {
	user := sluice.UserFrom(r.Context())
	view := callView{tracedCall: items[0], Followed: items[1:], Picture: picture(items), Seen: user.May(sluice.MaySeePayload)}
	view.Headers = shownHeaders(view.tracedCall.Headers)
	view.Text = payloadText(view.tracedCall)
	p.addBody(user, &view)
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

// addBody adds the body of a call as it came, if it is known, and how to send it again.
func (p *Portal) addBody(user sluice.User, view *callView) {
	body, whole := sentBody(view.tracedCall)
	if !whole {
		return
	}
	if fits := shortened(body, maxShown) == body; fits && body != view.Text {
		view.Raw = body
	}
	if curl := curlOfCall(p.BaseURL+sluice.ReceivePath, view.tracedCall); view.EventKey != "" && view.Method != "" && shortened(curl, maxShown) == curl {
		view.Curl = curl
	}
	view.Editable = view.EventKey != "" && user.May(sluice.MaySeeTokens) && p.may(user, "webhook.sign")
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
	return p.runThen(w, r, "/calls/"+url.PathEscape(trace)+"?done=retried", "event.retry", args("traceId", trace))
}

// callEraseConfirm asks before a call is erased.
func (p *Portal) callEraseConfirm(w http.ResponseWriter, r *http.Request) error {
	trace := r.PathValue("trace")
	found, err := ask[sluice.Erased](p, r, sluice.EraseCommand, args("traceId", trace, "dryRun", "true", "force", "true"))
	if err != nil {
		return err
	}
	effect := "Its payload, headers and results are gone for good, also if a pipeline still works on it. That there was a call remains."
	if others := len(found.Items) - 1; others > 0 {
		effect += " " + wording.Plural(others, "replay or copy goes", "replays and copies go") + " with it."
	}
	path := "/calls/" + url.PathEscape(trace)
	view := confirmation{Verb: "Erase", Name: trace, What: "call", Action: path + "/erase", Back: path, Effect: effect}
	return p.render(w, r, http.StatusOK, "confirm", "Erase "+trace, view)
}

func (p *Portal) callErase(w http.ResponseWriter, r *http.Request) error {
	trace := r.PathValue("trace")
	return p.runThen(w, r, "/calls/"+url.PathEscape(trace)+"?done=erased", sluice.EraseCommand, args("traceId", trace, "force", "true"))
}

func (p *Portal) callReplay(w http.ResponseWriter, r *http.Request) error {
	again, err := ask[sluice.Replays](p, r, "event.replay", args("traceId", r.PathValue("trace")))
	if err != nil {
		return err
	}
	target := "/calls"
	if len(again.Items) > 0 && again.Items[0].NewTraceID != "" {
		target += "/" + url.PathEscape(again.Items[0].NewTraceID)
	}
	return p.redirect(w, r, target+"?done=replayed")
}

type shownRun struct {
	sluice.RunReport

	EditURL  string // of the pipeline, if it failed and the user can edit it
	EditText string
	Output   string     // "" if it is unknown, or the user may not see it
	Earlier  []shownRun // attempts of the same pipeline before it
}

// Target returns the address that the run failed to call: "" if it failed otherwise, or the
// user may not see it.
func (s shownRun) Target() string {
	if s.Error == nil || len(s.Steps) == 0 || !isOutside(s.Error) {
		return ""
	}
	called := s.Steps[len(s.Steps)-1].HTTP
	if called == nil || called.URL == "" {
		return ""
	}
	return called.Method + " " + called.URL
}

// isOutside reports whether a run failed because of the system that it called, so that
// another attempt helps more than another source.
func isOutside(e *sluice.Problem) bool {
	return slices.Contains([]string{sluice.CodeHTTPStatus.Word, sluice.CodeHTTPFailed.Word, sluice.CodeHTTPTimeout.Word}, e.Code)
}

// folded returns the last attempt of each pipeline, with those before it.
func folded(runs []shownRun) (last []shownRun) {
	for _, run := range runs {
		i := slices.IndexFunc(last, func(other shownRun) bool { return other.Pipeline == run.Pipeline && run.Pipeline != "" })
		if i < 0 {
			last = append(last, run)
			continue
		}
		before := last[i]
		run.Earlier = slices.Concat(before.Earlier, []shownRun{{RunReport: before.RunReport, Output: before.Output}})
		last[i] = run
	}
	return last
}

func (p *Portal) shownRuns(r *http.Request, c tracedCall) ([]shownRun, error) {
	outputs, sources := outputsOf(c), make(map[string]*sluice.PipelineView)
	runs := make([]shownRun, len(c.Runs))
	for i, run := range c.Runs {
		runs[i] = shownRun{RunReport: run}
		if run.Error == nil {
			runs[i].Output = outputs[run.Pipeline]
			continue
		}
		if _, asked := sources[run.Pipeline]; !asked {
			source, err := p.editable(r, run.Pipeline)
			if err != nil {
				return nil, err
			}
			sources[run.Pipeline] = source
		}
		if source := sources[run.Pipeline]; source != nil {
			runs[i].EditURL, runs[i].EditText = p.editing(source, run, c.TraceID)
		}
	}
	return runs, nil
}

// editable returns a pipeline, or nil if the user can't edit it.
func (p *Portal) editable(r *http.Request, name string) (*sluice.PipelineView, error) {
	if name == "" || !p.allows(r, "pipeline.put") || !p.allows(r, "pipeline.get") {
		return nil, nil
	}
	found, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", name))
	if err != nil || found.Folder {
		return nil, ignoring(err, sluice.NotFound, sluice.Forbidden)
	}
	return &found, nil
}

// editing returns a link to the line where a run failed. If the source has changed
// since, the link leads to its start.
func (p *Portal) editing(source *sluice.PipelineView, run sluice.RunReport, trace string) (path, text string) {
	query, text := url.Values{"call": {trace}}, "Edit "+source.Name
	switch {
	case !source.Updated.Before(run.Started):
		text += ", which was changed since"
	case run.Error.Line > 0:
		query.Set("line", strconv.Itoa(run.Error.Line))
		query.Set("column", strconv.Itoa(run.Error.Column))
		text = fmt.Sprintf("Edit line %d", run.Error.Line)
	}
	return p.base + "/pipelines/" + url.PathEscape(source.Name) + "/edit?" + query.Encode(), text
}

// outputsOf returns the outputs of pipelines by their names, clipped to a line. The
// result of a call is the output of its only pipeline, or an object with several.
func outputsOf(c tracedCall) map[string]string {
	names := make(map[string]bool)
	for _, run := range c.Runs {
		names[run.Pipeline] = true
	}
	if len(names) == 0 || c.Result == nil || c.Result.Value == nil {
		return nil
	}
	values := make(map[string]json.RawMessage)
	if len(names) > 1 && json.Unmarshal(c.Result.Value, &values) != nil {
		return nil
	}
	outputs := make(map[string]string)
	for name := range names {
		value := values[name]
		if len(names) == 1 {
			value = c.Result.Value
		}
		const most = 160
		if value != nil {
			outputs[name] = clipped(string(value), most)
		}
	}
	return outputs
}

// replaysOf returns the recent replays of a failed call.
func (p *Portal) replaysOf(r *http.Request, c tracedCall) (replays []tracedCall, err error) {
	if c.Status != sluice.StatusError && c.Status != sluice.StatusRecovered || c.EventKey == "" {
		return nil, nil
	}
	const looked = "100"
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("eventKey", c.EventKey, "from", c.Time.Format(time.RFC3339Nano), "limit", looked))
	for _, other := range found.Items {
		if other.ReplayOf == c.TraceID {
			replays = append(replays, other)
		}
	}
	return replays, err
}

// A checked says how the signature of a call was checked.
type checked struct {
	Sender string // who signed it; "" if the sender is not a known one
	Valid  bool   // false if nothing was checked
}

// checkedCall returns how the signature of a call was checked. It returns nil if the
// webhook has changed since.
func (p *Portal) checkedCall(r *http.Request, c tracedCall) (*checked, error) {
	if c.Method == "" || c.EventKey == "" || c.ReplayOf != "" || c.Admitted || !p.allows(r, "webhook.get") {
		return nil, nil
	}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.get", args("eventKey", c.EventKey))
	if err != nil || !hook.Updated.Before(c.Time) {
		return nil, ignoring(err, sluice.NotFound)
	}
	check := &checked{Valid: hook.IsSigned()}
	if hook.Provider != "" && p.allows(r, "provider.get") {
		preset, err := ask[sluice.ProviderView](p, r, "provider.get", args("provider", hook.Provider))
		if err != nil {
			return nil, err
		}
		check.Sender = preset.Title
	}
	return check, nil
}
