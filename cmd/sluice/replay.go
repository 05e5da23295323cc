package main

import (
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

func replayCommand(t *terminal) *cobra.Command {
	var when span
	var eventKey, pipeline string
	var rate int
	cmd := &cobra.Command{
		Use:   "replay [TRACEID]",
		Short: "Send stored events again",
		Long: "Send stored events again, under new trace ids: that of one call, or those of an event key in a\n" +
			"span of time.",
		Example: "  sluice replay 4a5575:mwhgm5pn41onykmb\n  sluice replay --event-key webhook.lead.created --since 1h --pipeline leads --rate 10",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := url.Values{}
			switch {
			case len(args) == 1 && (eventKey != "" || when.given()):
				return usage("Give a trace id, or --event-key with a span of time; not both.")
			case len(args) == 1:
				params.Set("traceId", args[0])
			case eventKey == "" || when.from == "" && when.since == 0:
				return usage("Give a trace id, or --event-key with --since or --from.")
			default:
				params.Set("eventKey", eventKey)
				params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
				if err := when.set(params); err != nil {
					return err
				}
			}
			if pipeline != "" {
				params.Set("pipeline", pipeline)
			}
			if rate != 0 {
				params.Set("rate", strconv.Itoa(rate))
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			bar := t.progress(-1, "replaying")
			answer, err := c.Command(cmd.Context(), "event.replay", params, nil)
			bar.end()
			if err != nil {
				return err
			}
			return t.show(answer.Body)
		},
	}
	when.addFlags(cmd)
	cmd.Flags().StringVar(&eventKey, "event-key", "", "key of the events")
	cmd.Flags().StringVar(&pipeline, "pipeline", "", "the only pipeline that gets them (default: all that listen)")
	cmd.Flags().IntVar(&rate, "rate", 0, "events a second")
	complete(cmd, "event-key", t.completeNames("webhook.get", "eventKey", noFiles))
	complete(cmd, "pipeline", t.completeNames("pipeline.get", "name", noFiles))
	return cmd
}
