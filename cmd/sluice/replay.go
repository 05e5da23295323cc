package main

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func replayCommand(t *cli) *cobra.Command {
	return t.Calling(&cobra.Command{
		Use:   "replay [TRACEID]",
		Short: "Send stored events again",
		Long: `Send stored events again, under new trace ids: that of one call, or those that flags select in a span
			of time, however many they are. Interrupted, it says how to go on.`,
		Example: "  sluice replay 4a5575:mwhgm5pn41onykmb\n  sluice replay --event-key webhook.lead.created --since " +
			"1h --pipeline leads --rate 10",
		Args: terminal.Needs("one trace id"),
	}, "event.replay", func(ctx context.Context, values url.Values, args []string) error {
		switch {
		case len(args) == 1 && (values.Has("eventKey") || values.Has("type") || values.Has("from") || values.Has("to")):
			return exit.Usage("Give a trace id, or a span of time and flags that select; not both.")
		case len(args) == 1:
			values.Set("traceId", args[0])
			return t.ShowAnswer(t.Server.Command(ctx, "event.replay", values, nil))
		case !values.Has("from"):
			return exit.Usage("Give a trace id, or a span of time: --since or --from, and perhaps --event-key.")
		case !values.Has("to"):
			values.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
		}
		return t.replayAll(ctx, values)
	}, "traceId", "limit", "after")
}

// replayAll sends the events of a span of time again, page by page, so that people see
// progress.
func (t *cli) replayAll(ctx context.Context, params url.Values) error {
	count, err := t.countReplays(ctx, params)
	if err != nil {
		return err
	}
	if count == 0 {
		return sluice.Errorf(sluice.CodeEventUnknown, "No stored event matches; sluice trace finds those there are.")
	}
	if params.Get("dryRun") == "true" {
		return t.Report(sluice.Replays{Selected: count}, "%s: would be replayed", view.Counted(count, "event"))
	}
	bar := t.Progress(count, "replaying")
	defer bar.End()
	params.Set("limit", "100")
	if perSecond, err := strconv.Atoi(params.Get("rate")); err == nil { // otherwise the server refuses it
		params.Set("limit", strconv.Itoa(min(max(1, 2*perSecond), 1000)))
	}
	var all sluice.Replays
	for more := true; more; more = all.Next != "" {
		var some sluice.Replays
		if err := t.Server.Decode(ctx, "event.replay", params, nil, &some); err != nil {
			bar.End()
			if from, _, _ := strings.Cut(all.Next, ","); from != "" {
				t.Notef("%d of %s: replayed. To go on: --from %s; events of that moment may come twice.",
					all.Replayed, view.Counted(count, "event"), from)
			}
			return err
		}
		all.Replayed, all.Next, all.Items = all.Replayed+some.Replayed, some.Next, append(all.Items, some.Items...)
		params.Set("after", some.Next)
		bar.Steps(some.Replayed + some.Skipped)
	}
	bar.End()
	left := func(item sluice.BulkItem) bool { return item.Message != "" }
	if i := slices.IndexFunc(all.Items, left); i >= 0 && all.Replayed == 0 {
		return &sluice.Error{Kind: sluice.Conflict, Code: all.Items[i].Code, Message: all.Items[i].Message}
	}
	all.Items = slices.DeleteFunc(all.Items, left)
	return t.Report(all, "%s: replayed", view.Counted(all.Replayed, "event"))
}

// countReplays returns how many events would be sent again.
func (t *cli) countReplays(ctx context.Context, params url.Values) (count int, err error) {
	bar := t.Progress(-1, "finding the events")
	defer bar.End()
	by := maps.Clone(params)
	by.Set("dryRun", "true")
	by.Set("limit", "1000")
	for more := true; more; more = by.Get("after") != "" {
		var some sluice.Replays
		if err := t.Server.Decode(ctx, "event.replay", by, nil, &some); err != nil {
			return 0, err
		}
		count += some.Selected
		by.Set("after", some.Next)
	}
	return count, nil
}
