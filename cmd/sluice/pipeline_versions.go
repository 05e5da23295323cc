package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func pipelineVersions(r *resource) *cobra.Command {
	return r.about("versions", "List the latest sources of a pipeline: who stored each, and when", false,
		r.Connected(func(ctx context.Context, args []string) error {
			answer, err := r.Server.Command(ctx, "pipeline.versions", url.Values{"name": {args[0]}}, nil)
			if err != nil {
				return r.missing(ctx, args[0], err)
			}
			return r.Show(answer.Body, view.Columns("version", "owner", "time", "current")...)
		}))
}

func pipelineDiff(r *resource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff NAME [OLD [NEW]]",
		Short: "Show how versions of a pipeline differ",
		Long: `Show how versions of a pipeline differ: the current one from the one before it, from an older one, or
			any two.`,
		Example: "  sluice pipeline diff leads\n  sluice pipeline diff leads 3 5",
		Args:    terminal.Needs("the name of a pipeline, and up to two versions"),
		RunE: r.Connected(func(ctx context.Context, args []string) error {
			pair, err := r.versionsOf(ctx, args)
			if err != nil {
				return err
			}
			if pair.before == pair.after {
				r.Notef("They are the same.")
				return nil
			}
			title := fmt.Sprintf("%s, version %d and %d", args[0], pair.old, pair.new)
			_, err = r.Out.WriteString(view.Diff(title, pair.before, pair.after, terminal.Colours(r.Out)))
			return err
		}),
	}
	cmd.ValidArgsFunction = r.CompleteNames("pipeline.get", "name", terminal.NoFiles)
	return cmd
}

// A versionPair is two versions of a pipeline with their sources.
type versionPair struct {
	old, new      int
	before, after string
	tag           string // of the new one
}

// versionsOf returns the versions that arguments name: NAME [OLD [NEW]].
func (r *resource) versionsOf(ctx context.Context, args []string) (p versionPair, err error) {
	name := args[0]
	kept, err := r.Server.PipelineVersions(ctx, name)
	if err != nil {
		return p, r.missing(ctx, name, err)
	}
	p.new = kept[0].Version
	switch {
	case len(args) > 1:
		p.old, err = versionNumber(args[1])
	case len(kept) > 1:
		p.old = kept[1].Version
	default:
		err = sluice.Errorf(sluice.CodeVersionUnknown, "The pipeline %s has one version only.", name)
	}
	if err == nil && len(args) > 2 {
		p.new, err = versionNumber(args[2])
	}
	if err == nil {
		p.before, _, err = r.Server.PipelineSource(ctx, name, p.old)
	}
	if err == nil {
		p.after, p.tag, err = r.Server.PipelineSource(ctx, name, p.new)
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

func pipelineRollback(r *resource) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "rollback NAME [VERSION]",
		Short: "Store a former source of a pipeline again",
		Long: `Store a former source of a pipeline again: that of a version, or the one before the current one. It
			becomes a new version, which is yours.`,
		Example: "  sluice pipeline rollback leads",
		Args:    terminal.Needs("the name of a pipeline, and perhaps a version"),
		RunE: r.Connected(func(ctx context.Context, args []string) error {
			pair, err := r.versionsOf(ctx, args)
			if err != nil {
				return err
			}
			fmt.Fprint(r.Err, view.Diff(fmt.Sprintf("%s, back from version %d to %d", args[0], pair.new, pair.old),
				pair.after, pair.before, terminal.Colours(r.Err)))
			if err := r.Confirm(ctx, fmt.Sprintf("Store version %d again?", pair.old)); err != nil {
				return err
			}
			params := url.Values{
				"name": {args[0]}, "version": {strconv.Itoa(pair.old)}, "ifMatch": {pair.tag},
				"force": {strconv.FormatBool(force)},
			}
			return r.ShowAnswer(r.Server.Command(ctx, "pipeline.rollback", params, nil))
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "store it although steps would be refused when it runs")
	r.AddYes(cmd)
	cmd.ValidArgsFunction = r.CompleteNames("pipeline.get", "name", terminal.NoFiles)
	return cmd
}
