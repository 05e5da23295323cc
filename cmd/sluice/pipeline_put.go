package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

func pipelinePut(t *terminal) *cobra.Command {
	var name string
	var yes, force bool
	cmd := &cobra.Command{
		Use:   "put FILE|FOLDER...",
		Short: "Store pipelines",
		Long:  "Store pipelines, each under the name of its file without its ending. A folder stands for its files *.yaml, *.yml and *.json: those that differ from what is stored are shown, and stored if you agree. Nothing is stored if one has a mistake.",
		Args:  arguments(1, -1, "a file or a folder with pipelines"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := filesIn(args)
			if err != nil {
				return err
			}
			if name != "" && len(files) > 1 {
				return usage("--name is for one file, and these are %d.", len(files))
			}
			drafts, err := t.drafts(files, name)
			if err != nil {
				return err
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			folder := len(files) != len(args) || files[0] != args[0]
			var diffs []string
			if folder {
				if drafts, diffs, err = t.changed(cmd.Context(), c, drafts); err != nil {
					return err
				}
				if len(drafts) == 0 {
					return t.report([]draft{}, "Nothing has changed.")
				}
			}
			if err := faultless(cmd.Context(), c, drafts, force); err != nil {
				return err
			}
			if folder {
				fmt.Fprint(t.err, strings.Join(diffs, ""))
				if err := t.confirm(cmd.Context(), yes, "Store "+view.Counted(len(drafts), "pipeline")+"?"); err != nil {
					return err
				}
			}
			return t.put(cmd.Context(), c, drafts, force)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the pipeline (default: that of the file)")
	cmd.Flags().BoolVar(&force, "force", false, "store them although steps would be refused when they run")
	addYes(cmd, &yes)
	return cmd
}

// A draft is a pipeline to store.
type draft struct {
	name, file, source string
}

func (t *terminal) drafts(files []string, name string) ([]draft, error) {
	drafts := make([]draft, len(files))
	seen := make(map[string]string)
	for i, file := range files {
		source, err := t.read(file)
		if err != nil {
			return nil, err
		}
		drafts[i] = draft{cmp.Or(name, manifest.NameOf(file)), file, string(source)}
		if other := seen[drafts[i].name]; other != "" {
			return nil, usage("%s and %s are both the pipeline %s; rename one.", other, file, drafts[i].name)
		}
		seen[drafts[i].name] = file
	}
	return drafts, nil
}

// changed returns the drafts that differ from the stored pipelines, and how.
func (t *terminal) changed(ctx context.Context, c *client.Client, drafts []draft) (changed []draft, diffs []string, err error) {
	bar := t.progress(len(drafts), "comparing")
	defer bar.end()
	for _, d := range drafts {
		before, _, err := c.PipelineSource(ctx, d.name, 0)
		if err != nil && sluice.AsError(err).Kind != sluice.NotFound {
			return nil, nil, err
		}
		if before != d.source {
			diffs = append(diffs, view.Diff(d.name, before, d.source, colours(t.err)))
			changed = append(changed, d)
		}
		bar.step()
	}
	return changed, diffs, nil
}

// faultless returns the first mistake in drafts. If the user may not lint, storing
// finds the mistakes.
func faultless(ctx context.Context, c *client.Client, drafts []draft, force bool) error {
	for _, d := range drafts {
		found, err := c.Lint(ctx, d.name, d.source)
		switch {
		case err != nil && sluice.AsError(err).Kind == sluice.Forbidden:
			return nil
		case err != nil:
			return err
		}
		if err := mistake(found, d.file, force); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) put(ctx context.Context, c *client.Client, drafts []draft, force bool) error {
	names := make([]string, len(drafts))
	sources := make(map[string]string)
	for i, d := range drafts {
		names[i], sources[d.name] = d.name, d.source
	}
	return t.forEach(names, "", func(name string) (client.Answer, error) {
		return c.PutPipeline(ctx, name, sources[name], force)
	})
}

func pipelineVersions(t *terminal) *cobra.Command {
	r := resourceNamed("pipeline")
	return r.about(t, "versions", "List the latest sources of a pipeline: who stored each, and when", false, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		answer, err := c.Command(cmd.Context(), "pipeline.versions", url.Values{"name": {args[0]}}, nil)
		if err != nil {
			return r.missing(cmd.Context(), c, args[0], err)
		}
		return t.show(answer.Body, view.Columns("version", "owner", "time", "current")...)
	}))
}

func pipelineDiff(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diff NAME [OLD [NEW]]",
		Short:   "Show how versions of a pipeline differ",
		Long:    "Show how versions of a pipeline differ: the current one from the one before it, from an older one, or any two.",
		Example: "  sluice pipeline diff leads\n  sluice pipeline diff leads 3 5",
		Args:    arguments(1, 3, "the name of a pipeline, and up to two versions"),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			pair, err := versionsOf(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			if pair.before == pair.after {
				t.note("They are the same.")
				return nil
			}
			title := fmt.Sprintf("%s, version %d and %d", args[0], pair.old, pair.new)
			_, err = t.out.WriteString(view.Diff(title, pair.before, pair.after, colours(t.out)))
			return err
		}),
	}
	cmd.ValidArgsFunction = t.completeNames("pipeline.get", "name", noFiles)
	return cmd
}

// A versionPair is two versions of a pipeline with their sources.
type versionPair struct {
	old, new      int
	before, after string
	tag           string // of the new one
}

// versionsOf returns the versions that arguments name: NAME [OLD [NEW]].
func versionsOf(ctx context.Context, c *client.Client, args []string) (p versionPair, err error) {
	name := args[0]
	kept, err := c.PipelineVersions(ctx, name)
	if err != nil {
		return p, resourceNamed("pipeline").missing(ctx, c, name, err)
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
		p.before, _, err = c.PipelineSource(ctx, name, p.old)
	}
	if err == nil {
		p.after, p.tag, err = c.PipelineSource(ctx, name, p.new)
	}
	return p, err
}

func versionNumber(text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, usage("%q is no version; sluice pipeline versions lists them.", text)
	}
	return number, nil
}

func pipelineRollback(t *terminal) *cobra.Command {
	var yes, force bool
	cmd := &cobra.Command{
		Use:     "rollback NAME [VERSION]",
		Short:   "Store a former source of a pipeline again",
		Long:    "Store a former source of a pipeline again: that of a version, or the one before the current one. It becomes a new version, which is yours.",
		Example: "  sluice pipeline rollback leads",
		Args:    arguments(1, 2, "the name of a pipeline, and perhaps a version"),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			pair, err := versionsOf(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			fmt.Fprint(t.err, view.Diff(fmt.Sprintf("%s, back from version %d to %d", args[0], pair.new, pair.old), pair.after, pair.before, colours(t.err)))
			if err := t.confirm(cmd.Context(), yes, fmt.Sprintf("Store version %d again?", pair.old)); err != nil {
				return err
			}
			params := url.Values{"name": {args[0]}, "version": {strconv.Itoa(pair.old)}, "ifMatch": {pair.tag}, "force": {strconv.FormatBool(force)}}
			return t.showAnswer(c.Command(cmd.Context(), "pipeline.rollback", params, nil))
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "store it although steps would be refused when it runs")
	addYes(cmd, &yes)
	cmd.ValidArgsFunction = t.completeNames("pipeline.get", "name", noFiles)
	return cmd
}
