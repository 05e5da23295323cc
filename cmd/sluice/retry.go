package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func retryCommand(t *cli) *cobra.Command {
	return t.Calling(&cobra.Command{
		Use:     "retry [TRACEID]",
		Short:   "Try events now that wait for another attempt",
		Long:    "Try events now that wait for another attempt: that of one call, those that flags select, or all.",
		Example: "  sluice retry 4a5575:mwhgm5pn41onykmb\n  sluice retry --pipeline leads",
		Args:    terminal.Needs("one trace id"),
	}, "event.retry", func(ctx context.Context, values url.Values, args []string) error {
		if len(args) == 1 {
			values.Set("traceId", args[0])
		}
		var done sluice.Retries
		if err := t.Server.Decode(ctx, "event.retry", values, nil, &done); err != nil {
			return err
		}
		did := "tried now"
		if values.Get("dryRun") == "true" {
			did = "would be tried"
		}
		return t.Report(done, "%s: %s", view.Counted(done.Retried, "event"), did)
	}, "traceId")
}
