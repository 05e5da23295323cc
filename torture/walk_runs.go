package main

import (
	"context"
	"fmt"

	"sluice"
)

// runsOf counts the runs of pipelines that calls and sent events have.
func runsOf(calls []sluice.Call, ran map[string]sluice.RunFigures) {
	for _, c := range calls {
		for _, run := range c.Own() {
			of := sluice.RunFigures{Runs: 1}
			switch run.Status {
			case sluice.StatusSuperseded:
				continue // nothing ran
			case sluice.StatusError:
				of.Errors = 1
			case sluice.StatusPassed:
				of = sluice.RunFigures{Passed: 1}
			}
			of.Add(ran[run.Pipeline])
			ran[run.Pipeline] = of
		}
	}
}

// runsDiffer says how the runs that pipeline.stats counts differ from those of the traces.
func (w *walk) runsDiffer(ctx context.Context, ran map[string]sluice.RunFigures) (differ []string, err error) {
	for name, are := range ran {
		var said sluice.PipelineRuns
		if err := w.may(ctx, "pipeline.stats", map[string]any{"name": name, "hours": 720}, &said); err != nil {
			return nil, err
		}
		if !w.fits(said.Runs, are.Runs) || !w.fits(said.Errors, are.Errors) || !w.fits(said.Passed, are.Passed) {
			differ = append(differ, fmt.Sprintf("the figures of the pipeline %s are %+v, and its runs %+v", name,
				said.RunFigures, are))
		}
	}
	return differ, nil
}

// unwrittenAtKill is how many runs or rejected calls a server may have counted before a kill, and stored the count, and
// not written down that they were.
const unwrittenAtKill = 10

// fits reports whether as much was counted as there is. What a server could not write, and lost by a kill, is
// counted by nobody; a trace has it, if its outcome was stored.
func (w *walk) fits(counted, are int) bool {
	unwritten := unwrittenAtKill * len(w.kills)
	return counted >= are-min(unwritten, unwrittenAtKill*len(w.stuck)) && counted <= are+unwritten
}
