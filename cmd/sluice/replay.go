package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

func (t *cli) replay(ctx context.Context) error {
	given := t.Params
	switch {
	case len(t.Args) == 1 && (given.Has("eventKey") || given.Has("type") || given.Has("from") || given.Has("to")):
		return exit.Usage("Give a trace id, or a span of time and flags that select; not both.")
	case len(t.Args) == 1:
		return t.ShowAnswer(t.Call(ctx))
	case !given.Has("from"):
		return exit.Usage("Give a trace id, or a span of time: --since or --from, and perhaps --event-key.")
	case !given.Has("to"):
		given.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	return t.replayAll(ctx)
}

// replayAll sends the events of a span of time again, page by page, so that people see
// progress.
func (t *cli) replayAll(ctx context.Context) error {
	dry := maps.Clone(t.Params)
	dry.Set("dryRun", "true")
	found, err := t.pages(ctx, dry, 1000, t.Progress(-1, "finding the events"))
	if err != nil {
		return err
	}
	count := view.Counted(found.Selected, "event")
	switch {
	case found.Selected == 0:
		return sluice.CodeEventUnknown.Errorf("No stored event matches; sluice trace finds those there are.")
	case t.On("dry-run"):
		return t.Report(sluice.Replays{Selected: found.Selected}, "%s: would be replayed", count)
	}
	page := 100
	if perSecond, err := strconv.Atoi(t.Params.Get("rate")); err == nil { // otherwise the server refuses it
		page = min(max(1, 2*perSecond), 1000)
	}
	all, err := t.pages(ctx, t.Params, page, t.Progress(found.Selected, "replaying"))
	if from, _, _ := strings.Cut(all.Next, ","); err != nil && from != "" {
		t.Notef("%d of %s: replayed. To go on: --from %s; events of that moment may come twice.", all.Replayed,
			count, from)
	}
	if err != nil {
		return err
	}
	left := func(item sluice.BulkItem) bool { return item.Message != "" }
	if all.Replayed == 0 && slices.ContainsFunc(all.Items, left) {
		return all.refusal()
	}
	all.Items = slices.DeleteFunc(all.Items, left)
	return t.Report(sluice.Replays{Replayed: all.Replayed, Bulk: sluice.Bulk{Items: all.Items}}, "%s: replayed",
		view.Counted(all.Replayed, "event"))
}
