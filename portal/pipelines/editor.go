package pipelines

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// An editor is the page where people write the source of a pipeline.
type editor struct {
	New      bool
	Name     string
	NameRule string // which names are valid
	NameMark string // what is wrong with the name
	Source   string
	Tag      string // of the loaded version; "" for a new pipeline
	Unsaved  bool   // the source differs from the stored one
	Problem  string // what is wrong besides the source
	Checked  bool   // a check found no mistakes
	Findings []sluice.Finding
	Warnings []sluice.Finding // the user must confirm them
	Force    bool             // it can be stored in spite of the findings
	Theirs   *theirs          // what someone else has stored in the meantime
	Tried    *tried
	MayTry   bool
	Limit    string            // how many events to try it on
	Call     string            // trace id of the call beside the source; "" means the latest one
	Event    *calls.SeenEvent  // of that call; nil if there is none, or the user may not see it
	Past     []sluice.CallView // other calls to try the draft on
	Gutter   []gutterLine
	Lines    []sourceLine // around mistakes; nil if there are none
}

// theirs is what someone else has stored in the meantime.
type theirs struct {
	Tag   string
	Owner string
	Edits []diffLine // from theirs to ours
}

// A gutterLine is a line number beside the source.
type gutterLine struct {
	Number int
	Marked bool
}

// firstSource is the source of a new pipeline.
const firstSource = `pipeline:
  - event.listen:
      eventKey: webhook.hello
  - log:
      message: "A call came in: #{body.traceId}"
  - set:
      value:
        seen: true
        payload: "#{body.payload}"
`

// sourceFor is the source of a new pipeline for an event key. The cursor is at its end.
const sourceFor = "pipeline:\n  - event.listen:\n      eventKey: %s\n  "

func editorNew(v *page.Visit) error {
	e := editor{New: true, Source: firstSource, Call: v.Query("call")}
	key := v.Query("eventKey")
	if !sluice.ValidKey(key) {
		return renderEditor(v, e)
	}
	e.Source = fmt.Sprintf(sourceFor, key)
	name := strings.ToLower(strings.TrimPrefix(key, "webhook."))
	if _, err := page.Try[sluice.PipelineView](v, "pipeline.get", "name", name); sluice.NotFound.Is(err) {
		e.Name = name // it is free
	}
	if e.Call == "" {
		e.Call = calls.LatestOf(v, "eventKey", key)
	}
	return renderEditor(v, e)
}

func editorPage(v *page.Visit, found Pipeline) error {
	e := editor{Name: found.Name, Source: found.Source, Tag: found.ETag, Call: v.Query("call")}
	if e.Call == "" {
		e.Call = calls.LatestOf(v, "pipeline", found.Name)
	}
	if key := found.ListensTo(); e.Call == "" && key != found.Listens && sluice.ValidKey(key) { // it has never run
		e.Call = calls.LatestOf(v, "eventKey", key)
	}
	return renderEditor(v, e)
}

func renderEditor(v *page.Visit, e editor) error {
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
	if e.Unsaved && !e.New {
		if stored, err := page.Try[sluice.PipelineView](v, "pipeline.get", "name", e.Name); err == nil {
			e.Unsaved = stored.Source != e.Source
		}
	}
	put, _ := v.Commands.Find("pipeline.put")
	name, err := put.Param("name")
	if err != nil {
		return err
	}
	e.NameRule, e.MayTry = name.Doc, calls.MayTry(v)
	if e.Event == nil { // a try has set it already
		e.Event = calls.Event(v, e.Call)
	}
	e.Past = calls.Past(v, e.Event)
	title := "Edit " + e.Name
	if e.New {
		title = "New pipeline"
	}
	return v.Show("editor", title, e)
}

// editorSave stores, checks or tries a draft. It shows mistakes at their lines.
func editorSave(v *page.Visit) error {
	e := editor{
		Name: v.Named("name"), Source: v.Entered("source"), Tag: v.Entered("tag"), Unsaved: true,
		Limit: v.Entered("limit"), Call: v.Entered("call"),
	}
	if e.Name == "" {
		e.New, e.Name = true, strings.TrimSpace(v.Entered("name"))
	}
	do := v.Entered("do")
	if do == "overwrite" {
		e.Tag = v.Entered("theirs")
	}
	lint, err := page.Try[sluice.LintResult](v, "pipeline.lint", "source", e.Source, "name", v.Named("name"))
	switch e.Problem = v.Mistake(err); {
	case e.Problem != "":
	case !lint.Valid && (do != "force" || !onlyRights(lint.Problems)):
		e.Findings, e.Force = lint.Problems, onlyRights(lint.Problems)
	case do == "check":
		e.Checked = true
		return renderEditor(v, e)
	case do == "try", do == "try-call":
		return tryDraft(v, e, do == "try-call")
	case do != "force" && hasLent(lint.Warnings):
		e.Warnings = lint.Warnings
	default:
		return storeDraft(v, e, do == "force")
	}
	v.Status = http.StatusUnprocessableEntity
	return renderEditor(v, e)
}

// onlyRights reports whether rights are all that is missing. A pipeline can be stored
// in spite of that.
func onlyRights(found []sluice.Finding) bool {
	return !slices.ContainsFunc(found, func(f sluice.Finding) bool { return f.Permission == "" })
}

// hasLent reports whether the pipeline would gain rights from the user who saves it,
// who must confirm that.
func hasLent(warnings []sluice.Finding) bool {
	return slices.ContainsFunc(warnings, func(f sluice.Finding) bool { return f.Code == string(sluice.CodeRightsLent) })
}

// storeDraft stores a source without mistakes.
func storeDraft(v *page.Visit, e editor, force bool) error {
	_, err := v.Run("pipeline.put", "source", e.Source, "ifMatch", e.Tag, "name", e.Name, "force", force)
	if err == nil {
		return v.Redirect(pipelinePath(e.Name) + "?done=saved#next")
	}
	e.Problem = v.Mistake(err)
	switch failure := sluice.AsError(err); {
	case failure.Parameter == "name":
		e.NameMark, e.Problem = e.Problem, ""
	case failure.Code == string(sluice.CodeChangedMeanwhile):
		if now, err := page.Try[sluice.PipelineView](v, "pipeline.get", "name", v.Named("name")); err == nil {
			e.Theirs = &theirs{Tag: now.ETag, Owner: now.Owner, Edits: diffLines(now.Source, e.Source)}
		}
	}
	return renderEditor(v, e)
}
