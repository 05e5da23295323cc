package main

import (
	"context"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
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
	bar := t.Progress(-1, "waiting for the result")
	defer bar.End()
	result, err := t.Server.Await(ctx, id)
	bar.End()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return t.showResult(result)
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
