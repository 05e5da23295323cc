package main

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

func pipelineResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("pipeline"), short: "Store, read, run, check and test pipelines",
		word: "name", example: "leads", single: "version",
		columns: view.Columns("name", "listens", "paused", "owner", "updated", "description"),
		own:     true,
		none:    "There are no pipelines; sluice pipeline put FILE stores one.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			return append(pipelinePauses(t, r),
				pipelineDelete(t, r), pipelinePut(t), pipelineGet(t), pipelineRun(t), pipelineLint(t), pipelineTest(t), pipelineTry(t),
				pipelineVersions(t), pipelineDiff(t), pipelineRollback(t))
		},
	}
}

// pipelineDelete deletes as resourceDelete does, and tells how many events that
// abandons.
func pipelineDelete(t *terminal, r *resource) *cobra.Command {
	deleted := *r
	cmd := resourceDelete(t, &deleted)
	remove := cmd.RunE
	cmd.RunE = t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		waiting, known := waitingFor(cmd.Context(), c, args)
		deleted.Effect = r.Effect
		switch {
		case !known:
			deleted.Effect = strings.TrimSuffix(r.Effect, ".") + ", and it abandons those still waiting."
		case waiting > 0:
			deleted.Effect = strings.TrimSuffix(r.Effect, ".") + ", and it abandons " + view.Counted(waiting, "event") + " still waiting."
		}
		if err := remove(cmd, args); err != nil {
			return err
		}
		if waiting > 0 {
			t.note("Abandoned " + view.Counted(waiting, "event") + " still waiting.")
		}
		return nil
	})
	return cmd
}

// waitingFor returns how many events wait for some pipelines. Not every user who may
// delete a pipeline may know that.
func waitingFor(ctx context.Context, c *client.Client, names []string) (count int, known bool) {
	var stats struct {
		Pipelines []sluice.PipelineStats `json:"pipelines"`
	}
	if c.Decode(ctx, "server.stats", url.Values{"minutes": {"1"}}, nil, &stats) != nil {
		return 0, false
	}
	for _, p := range stats.Pipelines {
		if slices.Contains(names, p.Pipeline) {
			count += int(p.Waiting)
		}
	}
	return count, true
}

func pipelineGet(t *terminal) *cobra.Command {
	var version int
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Print the source of a stored pipeline; with -o or --json what is known of it",
		Example:           "  sluice pipeline get leads > leads.yaml",
		Args:              arguments(1, 1, "the name of a pipeline"),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", noFiles),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if t.format != "" || t.json {
				params := url.Values{"name": {args[0]}}
				if version != 0 {
					params.Set("version", strconv.Itoa(version))
				}
				return t.callCommand(cmd.Context(), c, "pipeline.get", params, nil)
			}
			source, _, err := c.PipelineSource(cmd.Context(), args[0], version)
			if err != nil {
				return pipelineMissing(cmd.Context(), c, args[0], err)
			}
			if isTerminal(t.out) {
				source = view.Lines(source)
			}
			_, err = t.out.WriteString(source)
			return err
		}),
	}
	cmd.Flags().IntVar(&version, "version", 0, "a former version, as sluice pipeline versions lists them (default: the current one)")
	return cmd
}

func pipelineRun(t *terminal) *cobra.Command {
	var vars []string
	var body, contentType string
	cmd := &cobra.Command{
		Use:               "run NAME|FILE",
		Short:             "Run a stored pipeline, or the one in a file, and print its final body",
		Long:              "Run a stored pipeline, or the one in a file, and print its final body. What ends in .yaml, .yml or .json or has a / in it is a file.",
		Example:           "  sluice pipeline run leads --body lead.json",
		Args:              arguments(1, 1, "the name of a pipeline, or a file with one"),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := t.pairs(vars)
			if err != nil {
				return err
			}
			carried, err := t.carried(cmd, body, contentType)
			if err != nil {
				return err
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			answer, err := t.run(cmd.Context(), c, args[0], values, carried)
			if err != nil {
				return err
			}
			return t.showData(answer.Body)
		},
	}
	cmd.Flags().StringArrayVar(&vars, "var", nil, "variable of the run as key=value or key=@file; may be repeated")
	cmd.Flags().StringVar(&body, "body", "", "body that the run starts with: JSON text, a file, or - for standard input")
	cmd.Flags().StringVar(&contentType, "content-type", "", "type of the body (default: JSON if it is such, else text)")
	return cmd
}

func (t *terminal) run(ctx context.Context, c *client.Client, name string, vars url.Values, body *client.Body) (client.Answer, error) {
	if !strings.Contains(name, "/") && manifest.NameOf(name) == name {
		answer, err := c.RunPipeline(ctx, name, vars, body)
		return answer, pipelineMissing(ctx, c, name, err)
	}
	source, err := t.read(name)
	if err != nil {
		return client.Answer{}, err
	}
	answer, err := c.RunSource(ctx, string(source), vars, body)
	return answer, inFile(name, err)
}

// pipelineMissing adds the name that was probably meant to the error for an unknown
// pipeline. NotFound errors can be about other things as well.
func pipelineMissing(ctx context.Context, c *client.Client, name string, err error) error {
	if !sluice.CodePipelineUnknown.Is(err) {
		return err
	}
	return resourceNamed("pipeline").missing(ctx, c, name, err)
}

// pipelinePauses makes the verbs that pause and resume pipelines.
func pipelinePauses(t *terminal, r *resource) []*cobra.Command {
	verb := func(name, short, sentence string) *cobra.Command {
		return r.about(t, name, short, true, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return t.forEach(args, sentence, func(key string) (client.Answer, error) {
				answer, err := c.Command(cmd.Context(), "pipeline."+name, url.Values{r.Key: {key}}, nil)
				return answer, r.missing(cmd.Context(), c, key, err)
			})
		}))
	}
	return []*cobra.Command{
		verb("pause", "Let events wait for pipelines", "Paused the pipeline %s; events wait for it."),
		verb("resume", "Let pipelines run again, the events that waited first", "The pipeline %s runs again."),
	}
}
