package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func (t *cli) pipelineVersions(ctx context.Context) error {
	answer, err := t.Call(ctx)
	if err != nil {
		return t.missing(ctx, t.Args[0], err)
	}
	return t.Show(answer.Body, view.Columns(t.Verb.Columns...)...)
}

func (t *cli) pipelineDiff(ctx context.Context) error {
	pair, err := t.versionsOf(ctx)
	if err != nil {
		return err
	}
	if pair.before == pair.after {
		t.Notef("They are the same.")
		return nil
	}
	title := fmt.Sprintf("%s, version %d and %d", t.Args[0], pair.old, pair.new)
	_, err = t.Out.WriteString(view.Diff(title, pair.before, pair.after, terminal.Colours(t.Out)))
	return err
}

// A versionPair is two versions of a pipeline with their sources.
type versionPair struct {
	old, new      int
	before, after string
	tag           string // of the new one
}

// versionsOf returns the versions that the arguments name: NAME [OLD [NEW]].
func (t *cli) versionsOf(ctx context.Context) (p versionPair, err error) {
	name := t.Args[0]
	kept, err := t.Server.PipelineVersions(ctx, name)
	if err != nil {
		return p, t.missing(ctx, name, err)
	}
	p.new = kept[0].Version
	switch {
	case len(t.Args) > 1:
		p.old, err = versionNumber(t.Args[1])
	case len(kept) > 1:
		p.old = kept[1].Version
	default:
		err = sluice.CodeVersionUnknown.Errorf("The pipeline %s has one version only.", name)
	}
	if err == nil && len(t.Args) > 2 {
		p.new, err = versionNumber(t.Args[2])
	}
	if err == nil {
		p.before, _, err = t.Server.PipelineSource(ctx, name, strconv.Itoa(p.old))
	}
	if err == nil {
		p.after, p.tag, err = t.Server.PipelineSource(ctx, name, strconv.Itoa(p.new))
	}
	return p, err
}

func versionNumber(text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, exit.Usage("%q is no version; sluice pipeline versions lists them.", text)
	}
	return number, nil
}

func (t *cli) pipelineRollback(ctx context.Context) error {
	pair, err := t.versionsOf(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(t.Err, view.Diff(fmt.Sprintf("%s, back from version %d to %d", t.Args[0], pair.new, pair.old),
		pair.after, pair.before, terminal.Colours(t.Err)))
	if err := t.Confirm(ctx, fmt.Sprintf("Store version %d again?", pair.old)); err != nil {
		return err
	}
	params := url.Values{
		"name": {t.Args[0]}, "version": {strconv.Itoa(pair.old)}, "ifMatch": {pair.tag}, "force": {t.Text("force")},
	}
	return t.ShowAnswer(t.Server.Command(ctx, "pipeline.rollback", params, nil))
}
