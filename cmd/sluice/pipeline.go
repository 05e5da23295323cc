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

func (t *cli) pipelinePause(ctx context.Context) error {
	return t.each(ctx, "pipeline.pause", "Paused the pipeline %s; events wait for it.")
}

// pipelineResume resumes pipelines, or all of them.
func (t *cli) pipelineResume(ctx context.Context) error {
	if all := t.On("all"); all == (len(t.Args) > 0) {
		return exit.Usage("Name pipelines, or give --all.").Help(t.Cmd)
	} else if !all {
		return t.each(ctx, "pipeline.resume", "The pipeline %s runs again.")
	}
	var resumed sluice.List[sluice.PipelineView]
	if err := t.Server.Decode(ctx, "pipeline.resume", url.Values{"all": {"true"}}, nil, &resumed); err != nil {
		return err
	}
	return t.Report(resumed, "Resumed %s.", view.Counted(len(resumed.Items), "pipeline"))
}

// pipelineDelete deletes pipelines, and says how many events that abandons.
func (t *cli) pipelineDelete(ctx context.Context) error {
	waiting, known := t.waitingFor(ctx)
	effect, events := strings.TrimSuffix(t.Resource.Effect, "."), view.Counted(waiting, "event")+" still waiting."
	switch {
	case !known:
		effect += ", and it abandons those still waiting."
	case waiting > 0:
		effect += ", and it abandons " + events
	default:
		effect += "."
	}
	if err := t.remove(ctx, effect); err != nil {
		return err
	}
	if waiting > 0 {
		t.Notef("Abandoned %s", events)
	}
	return nil
}

// waitingFor returns how many events wait for the named pipelines. Not every user who may
// delete a pipeline may know that.
func (t *cli) waitingFor(ctx context.Context) (count int, known bool) {
	var stats struct {
		Pipelines []sluice.PipelineStats `json:"pipelines"`
	}
	if t.Server.Decode(ctx, "server.stats", url.Values{"minutes": {"1"}}, nil, &stats) != nil {
		return 0, false
	}
	for _, p := range stats.Pipelines {
		if slices.Contains(t.Args, p.Pipeline) {
			count += int(p.Waiting)
		}
	}
	return count, true
}

func (t *cli) pipelineGet(ctx context.Context) error {
	version := t.Text("version")
	if t.FormGiven {
		params := url.Values{"name": {t.Args[0]}}
		if version != "0" {
			params.Set("version", version)
		}
		return t.callCommand(ctx, "pipeline.get", params, nil)
	}
	source, _, err := t.Server.PipelineSource(ctx, t.Args[0], version)
	if err != nil {
		return t.missingPipeline(ctx, t.Args[0], err)
	}
	if terminal.IsTerminal(t.Out) {
		source = view.Lines(source)
	}
	_, err = t.Out.WriteString(source)
	return err
}
