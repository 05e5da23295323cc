package main

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

// A change is a verb that changes the named things, or all that flags select.
type change struct {
	verb, short string
	command     string
	count       string // what was done, and the field with the number of things: replayed
	asks        bool   // it asks first, since it can't be undone
	groups      string // command that counts what the flags select, if there is one
}

func (ch change) of(t *terminal, r *resource) *cobra.Command {
	var yes bool
	cmd := t.calling(r.about(t, ch.verb, ch.short, true, nil), ch.command, func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		how := url.Values{}
		if values.Has("force") { // it says how, and selects nothing
			how["force"] = values["force"]
		}
		selected := len(values) > len(how)
		if selected == (len(args) > 0) {
			return usage("Say which: name %ss, or select them with flags such as --since.", r.called()).help(cmd)
		}
		what := "all " + r.called() + "s that the flags select"
		if !selected {
			what = counted(len(args), r.called())
		}
		if err := t.confirm(cmd.Context(), yes || !ch.asks, titleOf(ch.verb)+" "+what+" for good?"); err != nil {
			return err
		}
		if selected {
			return t.changeAll(cmd.Context(), c, ch, r, values)
		}
		return t.forEach(args, titleOf(r.called())+" %s: "+ch.count+".", func(key string) (client.Answer, error) {
			how.Set(r.Key, key)
			answer, err := c.Command(cmd.Context(), ch.command, how, nil)
			var done changed
			if err == nil {
				err = json.Unmarshal(answer.Body, &done)
			}
			if err == nil && done.Refused > 0 {
				err = done.refusal()
			}
			return answer, r.missing(cmd.Context(), c, key, err)
		})
	}, r.Key, "limit", "after")
	cmd.Use = ch.verb + " [" + r.arg() + "...]"
	cmd.Long = ch.short + ": those named, or all that flags select."
	cmd.Example += "\n  sluice " + r.Name + " " + ch.verb + " --since 1d"
	cmd.Args = cobra.ArbitraryArgs
	if ch.asks {
		addYes(cmd, &yes)
	}
	return cmd
}

// changeAll changes all things that parameters select, page by page. Things that
// appear meanwhile, perhaps because of a change, are left out.
func (t *terminal) changeAll(ctx context.Context, c *client.Client, ch change, r *resource, params url.Values) error {
	const page = "100"
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	bar := t.progress(ch.selected(ctx, c, params), ch.command)
	defer bar.end()
	params.Set("limit", page)
	var all changed
	for more := true; more; more = all.Next != "" {
		var done changed
		if err := c.Decode(ctx, ch.command, params, nil, &done); err != nil {
			bar.end()
			return t.interrupted(ch, r, all, err)
		}
		all.add(done)
		bar.steps(done.count() + done.Skipped + done.Refused)
		params.Set("after", done.Next)
	}
	bar.end()
	return t.reportChange(ch, r, all)
}

// interrupted tells what was changed before an error. The next call does not select
// those things again.
func (t *terminal) interrupted(ch change, r *resource, all changed, err error) error {
	if all.count() == 0 {
		return err
	}
	if failed := t.reportChange(ch, r, all); failed != nil {
		return failed
	}
	t.note("The same command goes on with the rest.")
	return err
}

// reportChange tells how many things were changed, and how many were not.
func (t *terminal) reportChange(ch change, r *resource, all changed) error {
	report := map[string]any{ch.count: all.count()}
	if len(all.Items) > 0 {
		report["items"] = all.Items
	}
	if all.Skipped > 0 {
		report["skipped"] = all.Skipped
		t.note(counted(all.Skipped, r.called()) + " skipped: their pipelines no longer listen to them.")
	}
	if all.Refused > 0 {
		report["refused"] = all.Refused
		t.note(counted(all.Refused, r.called()) + " stayed, refused again; the first: " + printable(all.refusal().Message))
	}
	return t.report(report, "%s: %s", counted(all.count(), r.called()), ch.count)
}

// selected returns how many things parameters select, -1 if that is unknown.
func (ch change) selected(ctx context.Context, c *client.Client, params url.Values) int {
	if ch.groups == "" {
		return -1
	}
	by := url.Values{}
	for _, name := range []string{"pipeline", "from", "to"} {
		if params.Has(name) {
			by.Set(name, params.Get(name))
		}
	}
	var found sluice.List[sluice.DeadLetterGroup]
	if c.Decode(ctx, ch.groups, by, nil, &found) != nil {
		return -1 // the change itself may be allowed
	}
	count := 0
	for _, g := range found.Items {
		if code := params.Get("code"); code == "" || code == g.Code {
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
	Refused  int `json:"refused"`
	sluice.Bulk
}

func (c *changed) count() int { return c.Replayed + c.Admitted + c.Deleted }

func (c *changed) add(next changed) {
	c.Replayed, c.Admitted, c.Deleted = c.Replayed+next.Replayed, c.Admitted+next.Admitted, c.Deleted+next.Deleted
	c.Refused, c.Skipped = c.Refused+next.Refused, c.Skipped+next.Skipped
	c.Items, c.Next = append(c.Items, next.Items...), next.Next
}

// refusal returns why the first of the refused things was refused.
func (c *changed) refusal() *sluice.Error {
	for _, item := range c.Items {
		if item.Code != "" {
			return &sluice.Error{Kind: sluice.Conflict, Code: item.Code, Message: item.Message}
		}
	}
	return sluice.Errorf(sluice.CodeRefused, "The server does not say why.")
}
