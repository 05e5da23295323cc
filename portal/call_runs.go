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
)

// A shownRun is a run on the page of a call.
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
