package main

import (
	"time"

	"github.com/spf13/cobra"
)

func replayCommand(t *terminal) *cobra.Command {
	var params *parameters
	cmd := &cobra.Command{
		Use:   "replay [TRACEID]",
		Short: "Send stored events again",
		Long: "Send stored events again, under new trace ids: that of one call, or those that flags select in a\n" +
			"span of time.",
		Example: "  sluice replay 4a5575:mwhgm5pn41onykmb\n  sluice replay --event-key webhook.lead.created --since 1h --pipeline leads --rate 10",
		Args:    arguments(0, 1, "one trace id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := params.values()
			switch {
			case err != nil:
				return err
			case len(args) == 1 && (values.Has("eventKey") || params.when.given()):
				return usage("Give a trace id, or a span of time and flags that select; not both.")
			case len(args) == 1:
				values.Set("traceId", args[0])
			case !values.Has("from"):
				return usage("Give a trace id, or a span of time: --since or --from, and perhaps --event-key.")
			case !values.Has("to"):
				values.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			bar := t.progress(-1, "replaying")
			answer, err := c.Command(cmd.Context(), "event.replay", values, nil)
			bar.end()
			if err != nil {
				return err
			}
			return t.show(answer.Body)
		},
	}
	params = t.declare(cmd, "event.replay", "traceId")
	return cmd
}
