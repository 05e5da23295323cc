package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

func (t *cli) trace(ctx context.Context) error {
	switch given := t.Params; {
	case !t.On("follow"):
		return t.showTrace(ctx)
	case given.Has("from") || given.Has("to") || given.Has("status"):
		return exit.Usage("--follow tells what happens from now on; it takes no span of time and no status.")
	}
	return t.followCalls(ctx)
}

// showTrace shows calls, or everything about one.
func (t *cli) showTrace(ctx context.Context) error {
	id := t.Params.Get("traceId")
	if id == "" {
		return t.ShowList(ctx, view.CallColumns)
	}
	answer, err := t.Call(ctx)
	if err != nil {
		return err
	}
	var page sluice.List[json.RawMessage]
	if err := json.Unmarshal(answer.Body, &page); err == nil && len(page.Items) == 0 {
		return sluice.CodeCallUnknown.Errorf(
			"No call %s was found; give a whole trace id, or the last 6 characters of a webhook's token, and perhaps "+
				"a longer span of time.", id)
	}
	if !strings.Contains(id, ":") {
		return t.PrintPage(answer, "--after ", view.CallColumns...)
	}
	var failed error
	err = t.Write(answer.Body, func(v *view.View, root *yaml.Node) {
		calls := view.Field(root, "items").Content
		if id := view.TextOf(calls[0], "quarantine"); id != "" {
			kept, _ := t.items(ctx, "quarantine.get", url.Values{"id": {id}}) // it may be gone, or not for this user
			for _, item := range kept {
				calls[0].Content = append(calls[0].Content, item.Content...)
			}
		}
		var replays []*yaml.Node
		replays, failed = t.replaysOf(ctx, calls[0])
		for _, call := range calls { // the call itself, then those that followed from it
			v.Call(call, replays)
			replays = nil
		}
	})
	return cmp.Or(failed, err)
}

// replaysOf returns the replays of a call among the newest calls of its webhook. The
// portal finds the same ones.
func (t *cli) replaysOf(ctx context.Context, call *yaml.Node) (replays []*yaml.Node, err error) {
	const looked = "100"
	key := view.TextOf(call, "eventKey")
	if status := view.TextOf(call, "status"); key == "" || status == string(sluice.StatusRejected) ||
		status == string(sluice.StatusHandshake) {
		return nil, nil // it has no event to replay
	}
	found, err := t.items(ctx, "trace.get", url.Values{
		"eventKey": {key}, "from": {view.TextOf(call, "time")}, "limit": {looked},
	})
	for _, other := range slices.Backward(found) { // the oldest first
		if view.TextOf(other, "replayOf") == view.TextOf(call, "traceId") {
			replays = append(replays, other)
		}
	}
	return replays, err
}

// items asks a command for a list.
func (t *cli) items(ctx context.Context, name string, params url.Values) ([]*yaml.Node, error) {
	answer, err := t.Server.Command(ctx, name, params, nil)
	if err != nil {
		return nil, err
	}
	page, err := view.Parse(answer.Body)
	return view.List(page, "items"), err
}
