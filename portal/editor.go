package portal

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/problem"
)

// An editor is the page on which the source of a pipeline is written.
type editor struct {
	New      bool
	Name     string
	NameMark string // what is wrong with the name
	Source   string
	Tag      string // of the version that was loaded; "" for a new pipeline
	Problem  string // what is wrong, if it is not a mistake in the source
	Checked  bool   // without mistakes
	Findings []sluice.Finding
	Gutter   []gutterLine
	Lines    []sourceLine // with the mistakes in them; nil if there are none
}

// A gutterLine is the number beside a line.
type gutterLine struct {
	Number int
	Marked bool
}

// firstSource is what a new pipeline begins with.
const firstSource = `description: What this pipeline is for.
pipeline:
  - event.listen:
      eventKey: webhook.hello
  - log:
      message: "A call came in: #{body.traceId}"
  - set:
      value:
        seen: true
        payload: "#{body.payload}"
`

func (p *Portal) pipelineNew(w http.ResponseWriter, r *http.Request) error {
	source := firstSource
	if key := r.URL.Query().Get("eventKey"); sluice.ValidKey(key) {
		source = strings.Replace(source, "webhook.hello", key, 1)
	}
	return p.renderEditor(w, r, http.StatusOK, editor{New: true, Source: source})
}

func (p *Portal) pipelineEdit(w http.ResponseWriter, r *http.Request) error {
	found, err := p.pipeline(r)
	if err != nil {
		return err
	}
	return p.renderEditor(w, r, http.StatusOK, editor{Name: found.Name, Source: found.Source, Tag: found.ETag})
}

func (p *Portal) renderEditor(w http.ResponseWriter, r *http.Request, status int, e editor) error {
	marked := make(map[int]bool)
	for _, f := range e.Findings {
		marked[f.Line] = true
	}
	for number := range strings.Count(e.Source, "\n") + 1 {
		e.Gutter = append(e.Gutter, gutterLine{number + 1, marked[number+1]})
	}
	if e.Findings != nil {
		e.Lines = around(highlight(e.Source, e.Findings))
	}
	title := "Edit " + e.Name
	if e.New {
		title = "New pipeline"
	}
	return p.render(w, r, status, "editor", title, e)
}

// pipelineSave stores, or merely checks, what was written. Mistakes are shown
// on the same page, each at its line.
func (p *Portal) pipelineSave(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	e := editor{Name: r.PathValue("name"), Source: formText(r, "source"), Tag: r.PostForm.Get("tag")}
	if e.Name == "" {
		e.New, e.Name = true, strings.TrimSpace(r.PostForm.Get("name"))
	}
	lint, err := ask[sluice.LintResult](p, r, "pipeline.lint", args("source", e.Source))
	switch {
	case err != nil && !isMistake(err):
		return err
	case err != nil:
		e.Problem = sluice.AsError(err).Message
	case !lint.Valid:
		e.Findings = lint.Problems
	case r.PostForm.Get("do") == "check":
		e.Checked = true
		return p.renderEditor(w, r, http.StatusOK, e)
	default:
		return p.store(w, r, e)
	}
	return p.renderEditor(w, r, http.StatusUnprocessableEntity, e)
}

// store stores a source without mistakes.
func (p *Portal) store(w http.ResponseWriter, r *http.Request, e editor) error {
	_, _, err := p.run(r, "pipeline.put", append(args("source", e.Source, "ifMatch", e.Tag), argument("name", e.Name)))
	if err == nil {
		p.redirect(w, r, "/pipelines/"+url.PathEscape(e.Name)+"?done=saved")
		return nil
	}
	if !isMistake(err) {
		return err
	}
	failure := sluice.AsError(err)
	if failure.Parameter == "name" {
		e.NameMark = failure.Message
	} else {
		e.Problem = failure.Message
	}
	return p.renderEditor(w, r, problem.Status(failure), e)
}
