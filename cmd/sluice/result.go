package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
)

// A wait says whether and how long to wait for a result.
type wait struct {
	wanted  bool
	timeout time.Duration
}

func (w *wait) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wanted, "wait", false, "wait until the result is there")
	w.addTimeout(cmd)
}

func (w *wait) addTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "longest time to wait, such as 5m (default: no limit)")
}

func resultCommand(t *terminal) *cobra.Command {
	var w wait
	cmd := &cobra.Command{
		Use:   "result ID",
		Short: "Print the result of a call",
		Long: "Print the result of a call, by the correlation id in its answer. With --wait the server holds\n" +
			"the request until the result is there. A result that tells of a failure ends with exit code 9.",
		Example: "  sluice result 1b9c5a0e-94d2-8c6f-a9f1-3d6a5e0f7c21 --wait",
		Args:    arguments(1, 1, "the correlation id of a call"),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if w.wanted {
				return t.awaitResult(cmd.Context(), c, args[0], w)
			}
			result, err := c.Result(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return t.showResult(result)
		}),
	}
	w.addFlags(cmd)
	return cmd
}

func (t *terminal) awaitResult(ctx context.Context, c *client.Client, id string, w wait) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	bar := t.progress(-1, "waiting for the result")
	defer bar.end()
	result, err := c.Await(ctx, id)
	bar.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return t.showResult(result)
}

// showResult prints a result. If a pipeline failed, so does the verb.
func (t *terminal) showResult(r client.Result) error {
	err := t.write(r.Document, func(w io.Writer, root *yaml.Node) error { return t.view().result(w, root) })
	if err != nil {
		return err
	}
	if r.Status != sluice.StatusError {
		return nil
	}
	failed := &failure{code: exitFailed, message: "A pipeline failed."}
	if r.Error != nil {
		failed.message = r.Error.Detail
	}
	if r.TraceID != "" {
		failed.hint = "sluice trace " + r.TraceID + " shows why."
	}
	return failed
}

// result writes the result of a call.
func (v *view) result(w io.Writer, result *yaml.Node) error {
	facts := []fact{{"Status", v.statusOf(result) + ", " + printable(textOf(result, "statusCode"))}}
	for _, name := range []string{"error", "traceId", "correlationId"} {
		if value := fieldOf(result, name); value != nil && !isEmpty(value) {
			facts = append(facts, fact{titleOf(name), v.text(name, value)})
		}
	}
	v.facts(w, "", facts)
	return v.data(w, result, "value")
}

// data writes those of the named fields that an object has, under headings.
func (v *view) data(w io.Writer, object *yaml.Node, names ...string) error {
	for _, name := range names {
		value := fieldOf(object, name)
		if value == nil || isEmpty(value) {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", paint(v.colour, bold, titleOf(name)))
		if err := writeIndented(w, value, "  "); err != nil {
			return err
		}
	}
	return nil
}
