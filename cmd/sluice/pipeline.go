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
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func pipelineResource(t *cli) *resource {
	r := &resource{
		cli: t, Resource: sluice.ResourceNamed("pipeline"), short: "Store, read, run, check and test pipelines",
		word: "name", example: "leads", single: "version",
		columns: view.Columns("name", "listens", "paused", "owner", "updated", "description"),
		own:     true,
		none:    "There are no pipelines; sluice pipeline put FILE stores one.",
	}
	r.verbs = []*cobra.Command{
		pipelinePause(r, "pause", "Let events wait for pipelines", "Paused the pipeline %s; events wait for it."),
		pipelinePause(r, "resume", "Let pipelines run again, the events that waited first",
			"The pipeline %s runs again."),
		pipelineDelete(r), pipelinePut(t), pipelineGet(r), pipelineRun(r), pipelineLint(t), pipelineTest(t),
		pipelineTry(t),
		pipelineVersions(r), pipelineDiff(r), pipelineRollback(r),
	}
	return r
}

// pipelinePause makes the verb that pauses pipelines, or resumes them.
func pipelinePause(r *resource, name, short, sentence string) *cobra.Command {
	return r.about(name, short, true, r.Connected(func(ctx context.Context, args []string) error {
		return r.ForEach(args, sentence, func(key string) (client.Answer, error) {
			answer, err := r.Server.Command(ctx, "pipeline."+name, url.Values{r.Key: {key}}, nil)
			return answer, r.missing(ctx, key, err)
		})
	}))
}

// pipelineDelete makes the verb that deletes pipelines, and says how many events that
// abandons.
func pipelineDelete(r *resource) *cobra.Command {
	cmd := r.about("delete", "Delete pipelines", true, r.Connected(func(ctx context.Context, args []string) error {
		waiting, known := r.waitingFor(ctx, args)
		effect, events := strings.TrimSuffix(r.Effect, "."), view.Counted(waiting, "event")+" still waiting."
		switch {
		case !known:
			effect += ", and it abandons those still waiting."
		case waiting > 0:
			effect += ", and it abandons " + events
		default:
			effect += "."
		}
		if err := r.deleteThings(ctx, args, effect, url.Values{}); err != nil {
			return err
		}
		if waiting > 0 {
			r.Notef("Abandoned %s", events)
		}
		return nil
	}))
	r.AddYes(cmd)
	return cmd
}

// waitingFor returns how many events wait for some pipelines. Not every user who may
// delete a pipeline may know that.
func (t *cli) waitingFor(ctx context.Context, names []string) (count int, known bool) {
	var stats struct {
		Pipelines []sluice.PipelineStats `json:"pipelines"`
	}
	if t.Server.Decode(ctx, "server.stats", url.Values{"minutes": {"1"}}, nil, &stats) != nil {
		return 0, false
	}
	for _, p := range stats.Pipelines {
		if slices.Contains(names, p.Pipeline) {
			count += int(p.Waiting)
		}
	}
	return count, true
}

func pipelineGet(r *resource) *cobra.Command {
	var version int
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Print the source of a stored pipeline; with -o or --json what is known of it",
		Example:           "  sluice pipeline get leads > leads.yaml",
		Args:              terminal.Needs("the name of a pipeline"),
		ValidArgsFunction: r.CompleteNames("pipeline.get", "name", terminal.NoFiles),
		RunE: r.Connected(func(ctx context.Context, args []string) error {
			if r.FormGiven {
				params := url.Values{"name": {args[0]}}
				if version != 0 {
					params.Set("version", strconv.Itoa(version))
				}
				return r.callCommand(ctx, "pipeline.get", params, nil)
			}
			source, _, err := r.Server.PipelineSource(ctx, args[0], version)
			if err != nil {
				return r.missingPipeline(ctx, args[0], err)
			}
			if terminal.IsTerminal(r.Out) {
				source = view.Lines(source)
			}
			_, err = r.Out.WriteString(source)
			return err
		}),
	}
	cmd.Flags().IntVar(&version, "version", 0,
		"a former version, as sluice pipeline versions lists them (default: the current one)")
	return cmd
}
