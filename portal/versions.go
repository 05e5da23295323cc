package portal

import (
	"net/http"
	"net/url"
	"strconv"

	"sluice"
	"sluice/difference"
	"sluice/problem"
)

// A versionView is the page of one version.
type versionView struct {
	sluice.PipelineView

	Version string
	Now     sluice.PipelineView
	Edits   []diffLine // from this version to the current one
	Lines   []sourceLine
	Problem string
}

func (p *Portal) versionPage(w http.ResponseWriter, r *http.Request) error {
	return p.showVersion(w, r, http.StatusOK, "")
}

func (p *Portal) showVersion(w http.ResponseWriter, r *http.Request, status int, refusal string) error {
	now, err := p.pipeline(r)
	if err != nil {
		return err
	}
	number := r.PathValue("version")
	if _, err := strconv.Atoi(number); err != nil {
		return sluice.Errorf(sluice.CodeVersionUnknown, "There is no such version.")
	}
	former, err := ask[sluice.PipelineView](p, r, "pipeline.get", args("name", now.Name, "version", number))
	if err != nil {
		return err
	}
	view := versionView{PipelineView: former, Version: number, Now: now.PipelineView, Edits: diffLines(former.Source, now.Source), Lines: beginning(highlight(former.Source, nil)), Problem: refusal}
	return p.render(w, r, status, "version", now.Name+", version "+number, view)
}

// versionRollback stores a former source again.
func (p *Portal) versionRollback(w http.ResponseWriter, r *http.Request) error {
	given := args("name", r.PathValue("name"), "version", r.PathValue("version"), "ifMatch", r.PostForm.Get("tag"))
	_, err := p.run(r, "pipeline.rollback", append(given, argument("force", r.PostForm.Get("do") == "force")))
	if err != nil {
		if e := sluice.AsError(err); isMistake(err) && e.Kind != sluice.Forbidden && e.Kind != sluice.NotFound {
			return p.showVersion(w, r, problem.Status(err), e.Message)
		}
		return err
	}
	p.redirect(w, r, "/pipelines/"+url.PathEscape(r.PathValue("name"))+"?done=rolledback#next")
	return nil
}

// A diffLine is a line of a difference.
type diffLine struct {
	Class string // added, removed or ""
	Text  string
}

// diffLines returns the difference between two sources.
func diffLines(before, after string) (lines []diffLine) {
	classes := map[byte]string{'+': "added", '-': "removed"}
	for _, e := range difference.Lines(before, after) {
		lines = append(lines, diffLine{classes[e.Sign], string(e.Sign) + " " + e.Line})
	}
	return lines
}
