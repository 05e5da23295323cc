package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

// An awaiting says whether and how long to wait for a result.
type awaiting struct {
	wanted  bool
	timeout time.Duration
}

func (w *awaiting) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wanted, "wait", false, "wait until the result is there")
	w.addTimeout(cmd)
}

func (w *awaiting) addTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "longest time to wait, such as 5m (default: no limit)")
}

func resultCommand(t *cli) *cobra.Command {
	var w awaiting
	cmd := &cobra.Command{
		Use:   "result ID",
		Short: "Print the result of a call",
		Long: `Print the result of a call, by the correlation id in its answer. With --wait the server holds the
			request until the result is there. A result that tells of a failure ends with exit code 9.`,
		Example: "  sluice result 1b9c5a0e-94d2-8c6f-a9f1-3d6a5e0f7c21 --wait",
		Args:    terminal.Needs("the correlation id of a call"),
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			if w.wanted {
				return t.awaitResult(ctx, args[0], w)
			}
			result, err := t.Server.Result(ctx, args[0])
			if err != nil {
				return err
			}
			return t.showResult(result)
		}),
	}
	w.addFlags(cmd)
	return cmd
}

func (t *cli) awaitResult(ctx context.Context, id string, w awaiting) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
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
