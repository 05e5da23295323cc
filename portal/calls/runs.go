package calls

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"sluice"
	"sluice/portal/page"
)

// A RunView is a run on the page of a call or of a pipeline.
type RunView struct {
	sluice.RunReport

	EditURL  string // of the pipeline, if it failed and the user can edit it
	EditText string
	Output   string    // "" if it is unknown, or the user may not see it
	Earlier  []RunView // attempts of the same pipeline before it
}

// Target returns the address that the run failed to call: "" if it failed otherwise, or the
// user may not see it.
func (s RunView) Target() string {
	if len(s.Steps) == 0 || !s.Outside() {
		return ""
	}
	called := s.Steps[len(s.Steps)-1].HTTP
	if called == nil || called.URL == "" {
		return ""
	}
	return called.Method + " " + called.URL
}

// Outside reports whether a run failed because of the system that it called, so that
// another attempt helps more than another source.
func (s RunView) Outside() bool {
	return s.Error != nil && slices.Contains([]sluice.Code{
		sluice.CodeHTTPStatus, sluice.CodeHTTPFailed, sluice.CodeHTTPTimeout,
	}, sluice.Code(s.Error.Code))
}

// folded returns the last attempt of each pipeline, with those before it.
func folded(runs []RunView) (last []RunView) {
	for _, run := range runs {
		i := slices.IndexFunc(last,
			func(other RunView) bool { return other.Pipeline == run.Pipeline && run.Pipeline != "" })
		if i < 0 {
			last = append(last, run)
			continue
		}
		before := last[i]
		run.Earlier = slices.Concat(before.Earlier, []RunView{{RunReport: before.RunReport, Output: before.Output}})
		last[i] = run
	}
	return last
}

func runsOf(v *page.Visit, c sluice.CallView) []RunView {
	outputs, sources := outputsOf(c), make(map[string]*sluice.PipelineView)
	runs := make([]RunView, len(c.Own()))
	for i, run := range c.Own() {
		runs[i] = RunView{RunReport: run}
		if run.Error == nil {
			runs[i].Output = outputs[run.Pipeline]
			continue
		}
		if _, asked := sources[run.Pipeline]; !asked {
			sources[run.Pipeline] = editable(v, run.Pipeline)
		}
		if source := sources[run.Pipeline]; source != nil {
			runs[i].EditURL, runs[i].EditText = editing(v, source, run, c.TraceID)
		}
	}
	return runs
}

// editable returns a pipeline, or nil if the user can't edit it.
func editable(v *page.Visit, name string) *sluice.PipelineView {
	if name == "" || !v.May("pipeline.put") || !v.May("pipeline.get") {
		return nil
	}
	found, err := page.Try[sluice.PipelineView](v, "pipeline.get", "name", name)
	if err != nil || found.Folder {
		v.Fail(page.Ignoring(err, sluice.NotFound, sluice.Forbidden))
		return nil
	}
	return &found
}

// editing returns a link to the line where a run failed. If the source has changed
// since, the link leads to its start.
func editing(v *page.Visit, source *sluice.PipelineView, run sluice.RunReport, trace string) (path, text string) {
	query, text := url.Values{"call": {trace}}, "Edit "+source.Name
	switch {
	case !source.Updated.Before(run.Started):
		text += ", which was changed since"
	case run.Error.Line > 0:
		query.Set("line", strconv.Itoa(run.Error.Line))
		query.Set("column", strconv.Itoa(run.Error.Column))
		text = fmt.Sprintf("Edit line %d", run.Error.Line)
	}
	return v.Base + "/pipelines/" + url.PathEscape(source.Name) + "/edit?" + query.Encode(), text
}

// outputsOf returns the outputs of pipelines by their names, clipped to a line. The
// result of a call is the output of its only pipeline, or an object with several.
func outputsOf(c sluice.CallView) map[string]string {
	names := make(map[string]bool)
	for _, run := range c.Own() {
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
			outputs[name] = page.Clipped(string(value), most)
		}
	}
	return outputs
}
