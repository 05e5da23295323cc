package main

import (
	"context"
	"net/url"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func (t *cli) result(ctx context.Context) error {
	if t.On("wait") {
		return t.awaitResult(ctx, t.Args[0])
	}
	result, err := t.Server.Result(ctx, t.Args[0])
	if err != nil {
		return err
	}
	return t.showResult(result)
}

func (t *cli) awaitResult(ctx context.Context, id string) error {
	if longest := t.Duration("timeout"); longest > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longest)
		defer cancel()
	}
	bar, told := t.Progress(-1, "waiting for the result"), false
	defer bar.End()
	result, err := t.Server.Await(ctx, id, func(traceID string) { told = told || t.tellWork(ctx, traceID, bar) })
	bar.End()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return t.showResult(result)
}

// tellWork tells people what somebody outside must do before there is a result, if they may know. Then the bar has
// nothing more to say.
func (t *cli) tellWork(ctx context.Context, traceID string, bar *terminal.Progress) (told bool) {
	var queues []sluice.WorkQueue
	_ = t.Server.Decode(ctx, "work.queues", nil, nil, &queues)
	for _, q := range queues {
		var waiting sluice.List[sluice.WorkItem]
		_ = t.Server.Decode(ctx, "work.get", url.Values{"queue": {q.Queue}, "limit": {"1000"}}, nil, &waiting)
		for _, item := range waiting.Items {
			if item.TraceID == traceID {
				bar.End()
				t.Sayf("The pipeline %s waits for somebody who does %s: sluice work %s -- PROGRAM",
					item.Pipeline, traceID, q.Queue)
				told = true
			}
		}
	}
	return told
}

// showResult prints a result. If a pipeline failed, so does the verb.
func (t *cli) showResult(r client.Result) error {
	err := t.Write(r.Document, (*view.View).Result)
	if err != nil {
		return err
	}
	if r.Status != sluice.StatusError {
		return nil
	}
	failed := exit.Errorf(exit.Failed, "A pipeline failed.")
	if r.Error != nil {
		failed.Message = r.Error.Detail
	}
	if r.TraceID != "" {
		failed.Hint = "sluice trace " + r.TraceID + " shows why."
	}
	return failed
}
