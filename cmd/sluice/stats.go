package main

import (
	"context"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/value"
)

func (t *cli) stats(ctx context.Context) error {
	answer, err := t.Call(ctx)
	if sluice.Forbidden.Is(err) {
		return t.scopedStats(ctx)
	}
	if err != nil {
		return err
	}
	return t.Write(answer.Body, func(v *view.View, root *yaml.Node) {
		tabulate(root, "minutes")
		tabulate(root, "hours")
		v.Account(root, "")
	})
}

// scopedStats shows what a user sees who may not see the state of the server: the webhooks and
// pipelines that their roles cover.
func (t *cli) scopedStats(ctx context.Context) error {
	t.Params.Del("minutes")
	both := map[string]json.RawMessage{}
	for _, thing := range []string{"webhook", "pipeline"} {
		answer, err := t.Server.Command(ctx, thing+".stats", t.Params, nil)
		if err != nil {
			return err
		}
		both[thing+"s"] = answer.Body
	}
	document, err := value.Marshal(both)
	if err != nil {
		return err
	}
	return t.Write(document, func(v *view.View, root *yaml.Node) {
		tabulate(view.Field(root, "pipelines"), "hours")
		for _, webhook := range view.Field(root, "webhooks").Content {
			view.DropField(webhook, "hours") // too wide; --json shows them
		}
		v.Account(root, "")
	})
}

// tabulate makes minutes or hours, if there are any, fit a table: without idle ones, and narrow.
func tabulate(object *yaml.Node, name string) {
	figures := view.Field(object, name)
	if figures == nil {
		return
	}
	for _, minute := range figures.Content {
		view.DropField(minute, "calls")    // the same figures
		view.DropField(minute, "webhooks") // too wide; --json shows them
		if accepted := view.Field(view.Field(minute, "events"), "accepted"); accepted != nil {
			*view.Field(minute, "events") = *accepted
		}
	}
	figures.Content = slices.DeleteFunc(figures.Content, isIdle)
}

// isIdle reports whether nothing was counted in a minute.
func isIdle(minute *yaml.Node) bool {
	for i := 0; i+1 < len(minute.Content); i += 2 {
		if count, ok := view.Number(minute.Content[i+1]); ok && count != 0 {
			return false
		}
	}
	return true
}
