package main

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func (t *cli) pipelinePause(ctx context.Context, args []string) error {
	return t.each(ctx, args, "pipeline.pause", "Paused the pipeline %s; events wait for it.")
}

// pipelineResume resumes pipelines, or all of them.
func (t *cli) pipelineResume(ctx context.Context, args []string) error {
	if all := t.On("all"); all == (len(args) > 0) {
		return exit.Usage("Name pipelines, or give --all.").Help(t.Cmd)
	} else if !all {
		return t.each(ctx, args, "pipeline.resume", "The pipeline %s runs again.")
	}
	var resumed sluice.List[sluice.PipelineView]
	if err := t.Server.Decode(ctx, "pipeline.resume", url.Values{"all": {"true"}}, nil, &resumed); err != nil {
		return err
	}
	return t.Report(resumed, "Resumed %s.", view.Counted(len(resumed.Items), "pipeline"))
}

// pipelineDelete deletes pipelines, and says how many events that abandons.
func (t *cli) pipelineDelete(ctx context.Context, args []string) error {
	waiting, known := t.waitingFor(ctx, args)
	effect, events := strings.TrimSuffix(t.Resource.Effect, "."), view.Counted(waiting, "event")+" still waiting."
	switch {
	case !known:
		effect += ", and it abandons those still waiting."
	case waiting > 0:
		effect += ", and it abandons " + events
	default:
		effect += "."
	}
	if err := t.remove(ctx, args, effect); err != nil {
		return err
	}
	if waiting > 0 {
		t.Notef("Abandoned %s", events)
	}
	return nil
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

func (t *cli) pipelineGet(ctx context.Context, args []string) error {
	version := t.Text("version")
	if t.FormGiven {
		params := url.Values{"name": {args[0]}}
		if version != "0" {
			params.Set("version", version)
		}
		return t.callCommand(ctx, "pipeline.get", params, nil)
	}
	source, _, err := t.Server.PipelineSource(ctx, args[0], version)
	if err != nil {
		return t.missingPipeline(ctx, args[0], err)
	}
	if terminal.IsTerminal(t.Out) {
		source = view.Lines(source)
	}
	_, err = t.Out.WriteString(source)
	return err
}
