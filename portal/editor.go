package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/difference"
	"sluice/problem"
)

// An editor is the page on which the source of a pipeline is written.
type editor struct {
	New      bool
	Name     string
	NameRule string // what a name is
	NameMark string // what is wrong with the name
	Source   string
	Tag      string // of the version that was loaded; "" for a new pipeline
	Unsaved  bool   // the source is not what is stored
	Problem  string // what is wrong, if it is not a mistake in the source
	Checked  bool   // without mistakes
	Findings []sluice.Finding
	Warnings []sluice.Finding // that must be confirmed
	Force    bool             // it can be stored in spite of the findings
	Theirs   *theirs          // what someone else has stored meanwhile
	Tried    *tried
	Limit    string       // of the events that it was tried on
	Call     string       // trace id of the call that it is written for; "" means the latest one
	Event    *seenEvent   // of that call; nil if there is none, or the user may not see it
	Past     []tracedCall // that the draft can be tried on in its place
	Gutter   []gutterLine
	Lines    []sourceLine // with the mistakes in them; nil if there are none
}

// Quiet reports whether there is nothing to read before the source.
func (e editor) Quiet() bool {
	return !e.New && e.Tried == nil && e.Findings == nil && e.Warnings == nil && e.Problem == ""
}

// Begun reports whether a new pipeline has a name and needs its first step.
func (e editor) Begun() bool { return e.New && e.Name != "" && !e.Unsaved }

// theirs is what someone else has stored meanwhile.
type theirs struct {
	Tag   string
	Owner string
	Edits []diffLine // from theirs to ours
}

// A gutterLine is the number beside a line.
type gutterLine struct {
	Number int
	Marked bool
}

// A diffLine is a line of a difference.
type diffLine struct {
	Class string // added, removed or ""
	Text  string
}

// diffLines returns the way from one source to another.
func diffLines(before, after string) (lines []diffLine) {
	classes := map[byte]string{'+': "added", '-': "removed"}
	for _, e := range difference.Lines(before, after) {
		lines = append(lines, diffLine{classes[e.Sign], string(e.Sign) + " " + e.Line})
	}
	return lines
}

// firstSource is what a new pipeline begins with.
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

// sourceFor is what a new pipeline for an event key begins with: the cursor is at
// its end.
const sourceFor = "pipeline:\n  - event.listen:\n      eventKey: %s\n  "

func (p *Portal) pipelineNew(w http.ResponseWriter, r *http.Request) error {
	e := editor{New: true, Source: firstSource, Call: r.URL.Query().Get("call")}
	key := r.URL.Query().Get("eventKey")
	if !sluice.ValidKey(key) {
		return p.renderEditor(w, r, http.StatusOK, e)
	}
	e.Source = fmt.Sprintf(sourceFor, key)
	name := strings.ToLower(strings.TrimPrefix(key, "webhook."))
	if _, err := ask[pipeline](p, r, "pipeline.get", args("name", name)); err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		e.Name = name // nobody has it yet
	}
	if e.Call == "" {
		var err error
		if e.Call, err = p.latestOf(r, args("eventKey", key)); err != nil {
			return err
		}
	}
	return p.renderEditor(w, r, http.StatusOK, e)
}

func (p *Portal) pipelineEdit(w http.ResponseWriter, r *http.Request) error {
	found, err := p.pipeline(r)
	if err != nil {
		return err
	}
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
		if stored, err := ask[pipeline](p, r, "pipeline.get", args("name", e.Name)); err == nil {
			e.Unsaved = stored.Source != e.Source
		}
	}
	put, _ := p.Commands.Find("pipeline.put")
	name, err := put.Param("name")
	if err != nil {
		return err
	}
	e.NameRule = name.Doc
	if e.Event == nil { // a trial has it already
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

// pipelineSave stores, merely checks, or tries what was written. Mistakes are
// shown on the same page, each at its line.
func (p *Portal) pipelineSave(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
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

// onlyRights reports whether all that was found is a lack of rights, in spite of
// which a pipeline can be stored.
func onlyRights(found []sluice.Finding) bool {
	return !slices.ContainsFunc(found, func(f sluice.Finding) bool { return f.Permission == "" })
}

// hasLent reports whether the pipeline would do more than before because of who
// saves it, which must be confirmed.
func hasLent(warnings []sluice.Finding) bool {
	return slices.ContainsFunc(warnings, func(f sluice.Finding) bool { return f.Code == sluice.CodeRightsLent.Word })
}

// store stores a source without mistakes.
func (p *Portal) store(w http.ResponseWriter, r *http.Request, e editor, force bool) error {
	_, _, err := p.run(r, "pipeline.put", append(args("source", e.Source, "ifMatch", e.Tag), argument("name", e.Name), argument("force", force)))
	if err == nil {
		p.redirect(w, r, "/pipelines/"+url.PathEscape(e.Name)+"?done=saved#next")
		return nil
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

// editorCheck answers the editor with the mistakes in a source, as it is typed.
func (p *Portal) editorCheck(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	found, _, err := p.run(r, "pipeline.lint", args("source", formText(r, "source"), "name", r.URL.Query().Get("name")))
	if err != nil {
		return err
	}
	writeJSON(w, found)
	return nil
}

// editorWords are what the editor offers while people type.
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
	Values   []string `json:"values,omitempty"` // that it may have, if they are few
}

func wordOf(p command.Param) wordParam {
	word := wordParam{sluice.Word{Name: p.Name, Doc: p.Doc}, p.Required, p.Enum}
	if p.Type == "boolean" {
		word.Values = []string{"true", "false"}
	}
	return word
}

// editorWords answers the editor with what it can offer the user.
func (p *Portal) editorWords(w http.ResponseWriter, r *http.Request) error {
	user := sluice.UserFrom(r.Context())
	words := editorWords{Sections: sluice.SourceSections(), Common: sluice.StepParameters(), EventKeys: []string{}, Secrets: []string{}, Users: []string{}, Functions: slices.Clone(p.Functions)}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint != nil {
			continue
		}
		word := wordCommand{Name: cmd.Name, Summary: cmd.Summary, Allowed: cmd.Allows(user), Params: []wordParam{}}
		for _, param := range cmd.Params {
			word.Params = append(word.Params, wordOf(param))
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
		items, _, err := fetch[[]map[string]any](p, r, list.command, args("limit", most))
		if err != nil {
			return err
		}
		for _, item := range items {
			*list.to = append(*list.to, text(item[list.key]))
		}
	}
	content, err := json.Marshal(words)
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
