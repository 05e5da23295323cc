package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
	"sluice/value"
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
	Limit    string       // how many events to try it on
	Call     string       // trace id of the call beside the source; "" means the latest one
	Event    *seenEvent   // of that call; nil if there is none, or the user may not see it
	Past     []tracedCall // other calls to try the draft on
	Gutter   []gutterLine
	Lines    []sourceLine // around mistakes; nil if there are none
}

// Quiet reports whether the page has no messages above the source.
func (e editor) Quiet() bool {
	return !e.New && e.Tried == nil && e.Findings == nil && e.Warnings == nil && e.Problem == ""
}

// Begun reports whether a new pipeline has a name and needs its first step.
func (e editor) Begun() bool { return e.New && e.Name != "" && !e.Unsaved }

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

func (p *Portal) pipelineNew(w http.ResponseWriter, r *http.Request) error {
	e := editor{New: true, Source: firstSource, Call: r.URL.Query().Get("call")}
	key := r.URL.Query().Get("eventKey")
	if !sluice.ValidKey(key) {
		return p.renderEditor(w, r, http.StatusOK, e)
	}
	e.Source = fmt.Sprintf(sourceFor, key)
	name := strings.ToLower(strings.TrimPrefix(key, "webhook."))
	if _, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", name)); err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		e.Name = name // it is free
	}
	if e.Call == "" {
		var err error
		if e.Call, err = p.latestOf(r, args("eventKey", key)); err != nil {
			return err
		}
	}
	return p.renderEditor(w, r, http.StatusOK, e)
}

func (p *Portal) pipelineEdit(w http.ResponseWriter, r *http.Request, found pipeline) (err error) {
	e := editor{Name: found.Name, Source: found.Source, Tag: found.ETag, Call: r.URL.Query().Get("call")}
	if e.Call == "" {
		if e.Call, err = p.latestOf(r, args("pipeline", found.Name)); err != nil {
			return err
		}
	}
	if key := found.ListensTo(); e.Call == "" && key != found.Listens && sluice.ValidKey(key) { // it has never run
		if e.Call, err = p.latestOf(r, args("eventKey", key)); err != nil {
			return err
		}
	}
	return p.renderEditor(w, r, http.StatusOK, e)
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
	if e.Unsaved && !e.New {
		if stored, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", e.Name)); err == nil {
			e.Unsaved = stored.Source != e.Source
		}
	}
	put, _ := p.Commands.Find("pipeline.put")
	name, err := put.Param("name")
	if err != nil {
		return err
	}
	e.NameRule = name.Doc
	if e.Event == nil { // a try has set it already
		if e.Event, err = p.seen(r, e.Call); err != nil {
			return err
		}
	}
	if e.Past, err = p.pastCalls(r, e.Event); err != nil {
		return err
	}
	title := "Edit " + e.Name
	if e.New {
		title = "New pipeline"
	}
	return p.render(w, r, status, "editor", title, e)
}

// pipelineSave stores, checks or tries a draft. It shows mistakes at their lines.
func (p *Portal) pipelineSave(w http.ResponseWriter, r *http.Request) error {
	e := editor{Name: r.PathValue("name"), Source: formText(r, "source"), Tag: r.PostForm.Get("tag"), Unsaved: true, Limit: r.PostForm.Get("limit"), Call: r.PostForm.Get("call")}
	if e.Name == "" {
		e.New, e.Name = true, strings.TrimSpace(r.PostForm.Get("name"))
	}
	do := r.PostForm.Get("do")
	if do == "overwrite" {
		e.Tag = r.PostForm.Get("theirs")
	}
	lint, err := ask[sluice.LintResult](p, r, "pipeline.lint", args("source", e.Source, "name", r.PathValue("name")))
	switch {
	case err != nil && !isMistake(err):
		return err
	case err != nil:
		e.Problem = sluice.AsError(err).Message
	case !lint.Valid && (do != "force" || !onlyRights(lint.Problems)):
		e.Findings, e.Force = lint.Problems, onlyRights(lint.Problems)
	case do == "check":
		e.Checked = true
		return p.renderEditor(w, r, http.StatusOK, e)
	case do == "try", do == "try-call":
		return p.tryDraft(w, r, e, do == "try-call")
	case do != "force" && hasLent(lint.Warnings):
		e.Warnings = lint.Warnings
	default:
		return p.store(w, r, e, do == "force")
	}
	return p.renderEditor(w, r, http.StatusUnprocessableEntity, e)
}

// onlyRights reports whether rights are all that is missing. A pipeline can be stored
// in spite of that.
func onlyRights(found []sluice.Finding) bool {
	return !slices.ContainsFunc(found, func(f sluice.Finding) bool { return f.Permission == "" })
}

// hasLent reports whether the pipeline would gain rights from the user who saves it,
// who must confirm that.
func hasLent(warnings []sluice.Finding) bool {
	return slices.ContainsFunc(warnings, func(f sluice.Finding) bool { return f.Code == sluice.CodeRightsLent.Word })
}

// store stores a source without mistakes.
func (p *Portal) store(w http.ResponseWriter, r *http.Request, e editor, force bool) error {
	_, err := p.run(r, "pipeline.put", append(args("source", e.Source, "ifMatch", e.Tag), argument("name", e.Name), argument("force", force)))
	if err == nil {
		return p.redirect(w, r, "/pipelines/"+url.PathEscape(e.Name)+"?done=saved#next")
	}
	if !isMistake(err) {
		return err
	}
	failure := sluice.AsError(err)
	switch {
	case failure.Parameter == "name":
		e.NameMark = failure.Message
	case failure.Code == sluice.CodeChangedMeanwhile.Word:
		if now, err := p.pipeline(r); err == nil {
			e.Theirs = &theirs{Tag: now.ETag, Owner: now.Owner, Edits: diffLines(now.Source, e.Source)}
		}
		fallthrough
	default:
		e.Problem = failure.Message
	}
	return p.renderEditor(w, r, problem.Status(failure), e)
}

// editorCheck returns the mistakes in a source while it is typed.
func (p *Portal) editorCheck(w http.ResponseWriter, r *http.Request) error {
	found, _, err := p.document(r, "pipeline.lint", args("source", formText(r, "source"), "name", r.URL.Query().Get("name")))
	if err != nil {
		return err
	}
	writeJSON(w, found)
	return nil
}

// editorWords are the completions of the editor.
type editorWords struct {
	Sections  []sluice.Word `json:"sections"`
	Common    []sluice.Word `json:"common"` // parameters of every step
	Commands  []wordCommand `json:"commands"`
	EventKeys []string      `json:"eventKeys"`
	Secrets   []string      `json:"secrets"`
	Users     []string      `json:"users"`
	Functions []sluice.Word `json:"functions"`
}

type wordCommand struct {
	Name    string      `json:"name"`
	Summary string      `json:"summary"`
	Allowed bool        `json:"allowed"`
	Params  []wordParam `json:"params"`
}

type wordParam struct {
	sluice.Word

	Required bool     `json:"required,omitempty"`
	Values   []string `json:"values,omitempty"` // the allowed ones, if they are few
}

// editorWords returns the completions for the user.
func (p *Portal) editorWords(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	words := editorWords{Sections: sluice.SourceSections(), Common: sluice.StepParameters(), EventKeys: []string{}, Secrets: []string{}, Users: []string{}, Functions: slices.Clone(p.Functions)}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint != nil {
			continue
		}
		word := wordCommand{Name: cmd.Name, Summary: cmd.Summary, Allowed: cmd.Allows(user), Params: []wordParam{}}
		for _, param := range cmd.Params {
			values := param.Enum
			if param.Type == "boolean" {
				values = []string{"true", "false"}
			}
			word.Params = append(word.Params, wordParam{sluice.Word{Name: param.Name, Doc: param.Doc}, param.Required, values})
		}
		words.Commands = append(words.Commands, word)
		if group, _, _ := strings.Cut(cmd.Name, "."); group == "convert" || group == "crypto" {
			words.Functions = append(words.Functions, sluice.Word{Name: cmd.Name, Doc: cmd.Summary})
		}
	}
	const most = "1000"
	for _, list := range []struct {
		command, key string
		to           *[]string
	}{{"webhook.get", "eventKey", &words.EventKeys}, {"secret.get", "name", &words.Secrets}, {"iam.user.get", "username", &words.Users}} {
		if !p.may(user, list.command) {
			continue
		}
		items, _, err := read[[]map[string]any](p, r, list.command, args("limit", most))
		if err != nil {
			return err
		}
		for _, item := range items {
			*list.to = append(*list.to, text(item[list.key]))
		}
	}
	content, err := value.Marshal(words)
	if err != nil {
		return err
	}
	writeJSON(w, content)
	return nil
}

func writeJSON(w http.ResponseWriter, content []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content) // an error means that the browser has gone
}

// tryDraft shows how past events, or the event of one call, would end with a draft.
func (p *Portal) tryDraft(w http.ResponseWriter, r *http.Request, e editor, one bool) error {
	given := args("source", e.Source)
	if !e.New {
		given = append(given, args("pipeline", e.Name)...)
	}
	var err error
	if e.Event, err = p.seen(r, e.Call); err != nil {
		return err
	}
	switch {
	case !one:
		given = append(given, args("limit", e.Limit)...)
	case e.Event != nil: // other events that the call caused have its trace id, too
		given = append(given, args("traceId", e.Event.TraceID, "eventKey", e.Event.EventKey)...)
	default:
		given = append(given, args("limit", "1")...)
	}
	result, err := ask[sluice.TryResult](p, r, "pipeline.try", given)
	if err != nil && !isMistake(err) {
		return err
	}
	if err != nil {
		e.Problem = sluice.AsError(err).Message
		return p.renderEditor(w, r, problem.Status(err), e)
	}
	e.Tried = triedOf(&result)
	return p.renderEditor(w, r, http.StatusOK, e)
}
