package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

// change changes the named things, or all that flags select.
func (t *cli) change(ctx context.Context) error {
	how := url.Values{}
	if t.Params.Has("force") { // it says how, and selects nothing
		how["force"] = t.Params["force"]
	}
	r, did := t.Resource, t.Verb.Did
	selected := len(t.Params) > len(how)
	if selected == (len(t.Args) > 0) {
		return exit.Usage("Say which: name %ss, or select them with flags such as --since.", r.Thing).Help(t.Cmd)
	}
	what := "all " + r.Thing + "s that the flags select"
	if !selected {
		what = view.Counted(len(t.Args), r.Thing)
	}
	if t.Verb.Name == "delete" {
		if err := t.Confirm(ctx, "Delete "+what+" for good?"); err != nil {
			return err
		}
	}
	if selected {
		return t.changeAll(ctx)
	}
	return t.ForEach(t.Args, view.Title(r.Thing)+" %s: "+did+".", func(key string) (client.Answer, error) {
		how.Set(r.Key, key)
		answer, err := t.Server.Command(ctx, t.Verb.Command, how, nil)
		var done changed
		if err == nil {
			err = json.Unmarshal(answer.Body, &done)
		}
		if err == nil && done.Refused > 0 {
			err = done.refusal()
		}
		return answer, t.missing(ctx, key, err)
	})
}

// changeAll changes all things that parameters select. Things that appear meanwhile, perhaps because of a
// change, are left out.
func (t *cli) changeAll(ctx context.Context) error {
	const page = 100
	if t.Params.Get("to") == "" {
		t.Params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	all, err := t.pages(ctx, t.Params, page, t.Progress(t.countSelected(ctx), t.Verb.Command))
	if err != nil {
		return t.interrupted(all, err)
	}
	return t.reportChange(all)
}

// pages calls the command of the verb for all that parameters select, page by page. With an error it
// returns what was done before.
func (t *cli) pages(
	ctx context.Context, params url.Values, limit int, bar *terminal.Progress,
) (all changed, err error) {
	defer bar.End()
	params.Set("limit", strconv.Itoa(limit))
	for more := true; more; more = all.Next != "" {
		var done changed
		if err := t.Server.Decode(ctx, t.Verb.Command, params, nil, &done); err != nil {
			return all, err
		}
		all.add(done)
		bar.Steps(done.total() + done.Skipped + done.Refused)
		params.Set("after", done.Next)
	}
	return all, nil
}

// interrupted reports what was changed before an error. The next call does not select
// those things again.
func (t *cli) interrupted(all changed, err error) error {
	if all.total() == 0 {
		return err
	}
	if failed := t.reportChange(all); failed != nil {
		return failed
	}
	t.Notef("The same command goes on with the rest.")
	return err
}

// reportChange says how many things were changed, and how many were not.
func (t *cli) reportChange(all changed) error {
	thing, report := t.Resource.Thing, map[string]any{t.Verb.Did: all.total()}
	if len(all.Items) > 0 {
		report["items"] = all.Items
	}
	if all.Skipped > 0 {
		report["skipped"] = all.Skipped
		t.Notef("%s skipped: their pipelines no longer listen to them.", view.Counted(all.Skipped, thing))
	}
	if all.Refused > 0 {
		report["refused"] = all.Refused
		t.Notef("%s stayed, rejected again; the first: %s", view.Counted(all.Refused, thing), all.refusal().Message)
	}
	return t.Report(report, "%s: %s", view.Counted(all.total(), thing), t.Verb.Did)
}

// countSelected returns how many things parameters select, -1 if that is unknown.
func (t *cli) countSelected(ctx context.Context) int {
	if t.Verb.Counts == "" {
		return -1
	}
	by := url.Values{}
	for _, name := range []string{"pipeline", "from", "to"} {
		if t.Params.Has(name) {
			by.Set(name, t.Params.Get(name))
		}
	}
	var found sluice.List[sluice.DeadLetterGroup]
	if t.Server.Decode(ctx, t.Verb.Counts, by, nil, &found) != nil {
		return -1 // the change itself may be allowed
	}
	count := 0
	for _, g := range found.Items {
		if code := t.Params.Get("code"); code == "" || code == g.Code {
			count += g.Count
		}
	}
	return count
}

// A changed is the answer of any command that changes many things.
type changed struct {
	Replayed int `json:"replayed"`
	Admitted int `json:"admitted"`
	Deleted  int `json:"deleted"`
	Selected int `json:"selected"`
	Refused  int `json:"refused"`
	sluice.Bulk
}

func (c *changed) total() int { return c.Replayed + c.Admitted + c.Deleted }

func (c *changed) add(next changed) {
	c.Replayed += next.Replayed
	c.Admitted += next.Admitted
	c.Deleted += next.Deleted
	c.Selected += next.Selected
	c.Refused += next.Refused
	c.Skipped += next.Skipped
	c.Items, c.Next = append(c.Items, next.Items...), next.Next
}

// refusal returns why the first of the refused things was refused.
func (c *changed) refusal() *sluice.Error {
	for _, item := range c.Items {
		if item.Code != "" {
			return &sluice.Error{Kind: sluice.Conflict, Code: item.Code, Message: item.Message}
		}
	}
	return sluice.CodeRefused.Errorf("The server does not say why.")
}
