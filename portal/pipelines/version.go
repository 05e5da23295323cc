package pipelines

import (
	"strconv"

	"sluice"
	"sluice/difference"
	"sluice/portal/page"
)

type versionView struct {
	sluice.PipelineView

	Now     sluice.PipelineView
	Edits   []diffLine // from this version to the current one
	Lines   []sourceLine
	Problem string
}

func versionPage(v *page.Visit, now Pipeline) error { return showVersion(v, now, "") }

func showVersion(v *page.Visit, now Pipeline, refusal string) error {
	number := v.Named("version")
	if _, err := strconv.Atoi(number); err != nil {
		return sluice.CodeVersionUnknown.Errorf("There is no such version.")
	}
	former := page.Ask[sluice.PipelineView](v, "pipeline.get", "name", now.Name, "version", number)
	view := versionView{
		PipelineView: former, Now: now.PipelineView, Edits: diffLines(former.Source, now.Source),
		Lines: beginning(highlight(former.Source, nil)), Problem: refusal,
	}
	return v.Show("version", now.Name+", version "+number, view)
}

// versionRollback stores a former source again.
func versionRollback(v *page.Visit) error {
	_, err := v.Run("pipeline.rollback", "name", v.Named("name"), "version", v.Named("version"),
		"ifMatch", v.Entered("tag"), "force", v.Entered("do") == "force")
	if err == nil {
		return v.Redirect(pipelinePath(v.Named("name")) + "?done=rolledback#next")
	}
	if kind := sluice.AsError(err).Kind; kind == sluice.Forbidden || kind == sluice.NotFound {
		return err
	}
	return showVersion(v, pipelineNamed(v), v.Mistake(err))
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
