package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

func (t *cli) pipelinePut(ctx context.Context) error {
	name, force := t.Text("name"), t.On("force")
	drafts, err := eachFile(t, func(file, source string) (pipelineDraft, error) {
		return pipelineDraft{name: cmp.Or(name, manifest.NameOf(file)), file: file, source: source}, nil
	})
	if err != nil {
		return err
	}
	if name != "" && len(drafts) > 1 {
		return exit.Usage("--name is for one file, and these are %d.", len(drafts))
	}
	if err := distinct(drafts); err != nil {
		return err
	}
	folder := len(drafts) != len(t.Args) || drafts[0].file != t.Args[0]
	var diffs []string
	if folder {
		if drafts, diffs, err = t.changedDrafts(ctx, drafts); err != nil {
			return err
		}
		if len(drafts) == 0 {
			return t.Report([]pipelineDraft{}, "Nothing has changed.")
		}
	}
	if err := t.faultless(ctx, drafts, force); err != nil {
		return err
	}
	if folder {
		fmt.Fprint(t.Err, strings.Join(diffs, ""))
		if err := t.Confirm(ctx, "Store "+view.Counted(len(drafts), "pipeline")+"?"); err != nil {
			return err
		}
	}
	return t.putDrafts(ctx, sendersFirst(drafts), force)
}

// A pipelineDraft is a pipeline to store.
type pipelineDraft struct {
	name, file, source string
	found              sluice.LintResult // nothing, if the user may not lint
}

// distinct refuses drafts of the same pipeline.
func distinct(drafts []pipelineDraft) error {
	seen := make(map[string]string)
	for _, d := range drafts {
		if other := seen[d.name]; other != "" {
			return exit.Usage("%s and %s are both the pipeline %s; rename one.", other, d.file, d.name)
		}
		seen[d.name] = d.file
	}
	return nil
}

// changedDrafts returns the drafts that differ from the stored pipelines, and how.
func (t *cli) changedDrafts(
	ctx context.Context, drafts []pipelineDraft,
) (changed []pipelineDraft, diffs []string, err error) {
	bar := t.Progress(len(drafts), "comparing")
	defer bar.End()
	for _, d := range drafts {
		before, _, err := t.Server.PipelineSource(ctx, d.name, "")
		if err != nil && !sluice.NotFound.Is(err) {
			return nil, nil, err
		}
		if before != d.source {
			diffs = append(diffs, view.Diff(d.name, before, d.source, terminal.Colours(t.Err)))
			changed = append(changed, d)
		}
		bar.Steps(1)
	}
	return changed, diffs, nil
}

// faultless returns the mistakes of the first draft that has some. If the user may not lint, storing
// finds the mistakes.
func (t *cli) faultless(ctx context.Context, drafts []pipelineDraft, force bool) error {
	for i, d := range drafts {
		found, err := t.Server.Lint(ctx, d.name, d.source, "")
		switch {
		case sluice.Forbidden.Is(err), sluice.NotFound.Is(err): // a name out of scope: storing it says so
			return nil
		case err != nil:
			return err
		}
		if err := mistake(found, d.file, force); err != nil {
			return err
		}
		drafts[i].found = found
	}
	return nil
}

// sendersFirst orders drafts so that one comes after those that send what it listens to: the server does
// not warn then that nobody sends it.
func sendersFirst(drafts []pipelineDraft) (ordered []pipelineDraft) {
	for len(drafts) > 0 {
		next := max(0, slices.IndexFunc(drafts, func(d pipelineDraft) bool {
			key := strings.TrimPrefix(d.found.Listens, sluice.EventPrefix)
			return !slices.ContainsFunc(drafts, func(other pipelineDraft) bool {
				return slices.Contains(other.found.Sends, key)
			})
		}))
		ordered, drafts = append(ordered, drafts[next]), slices.Delete(drafts, next, next+1)
	}
	return ordered
}

func (t *cli) putDrafts(ctx context.Context, drafts []pipelineDraft, force bool) error {
	names := make([]string, len(drafts))
	of := make(map[string]pipelineDraft)
	for i, d := range drafts {
		names[i], of[d.name] = d.name, d
	}
	return t.ForEach(names, "", func(name string) (client.Answer, error) {
		answer, err := t.Server.PutPipeline(ctx, name, of[name].source, force)
		return answer, inFile(of[name].file, err)
	})
}
