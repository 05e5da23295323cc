package main

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

// A change is a verb that changes the named things, or all that flags select.
type change struct {
	*resource
	verb, short string

	calls  string // the command
	count  string // what was done, and the field with the number of things: replayed
	asks   bool   // it asks first, since it can't be undone
	groups string // command that counts what the flags select, if there is one
}

func (ch change) newVerb() *cobra.Command {
	cmd := ch.about(ch.verb, ch.short, true, nil)
	ch.Calling(cmd, ch.calls, func(ctx context.Context, values url.Values, args []string) error {
		how := url.Values{}
		if values.Has("force") { // it says how, and selects nothing
			how["force"] = values["force"]
		}
		selected := len(values) > len(how)
		if selected == (len(args) > 0) {
			return exit.Usage("Say which: name %ss, or select them with flags such as --since.", ch.called()).Help(cmd)
		}
		what := "all " + ch.called() + "s that the flags select"
		if !selected {
			what = view.Counted(len(args), ch.called())
		}
		if ch.asks {
			if err := ch.Confirm(ctx, view.Title(ch.verb)+" "+what+" for good?"); err != nil {
				return err
			}
		}
		if selected {
			return ch.changeAll(ctx, values)
		}
		return ch.ForEach(args, view.Title(ch.called())+" %s: "+ch.count+".", func(key string) (client.Answer, error) {
			how.Set(ch.Key, key)
			answer, err := ch.Server.Command(ctx, ch.calls, how, nil)
			var done changed
			if err == nil {
				err = json.Unmarshal(answer.Body, &done)
			}
			if err == nil && done.Refused > 0 {
				err = done.refusal()
			}
			return answer, ch.missing(ctx, key, err)
		})
	}, ch.Key, "limit", "after")
	cmd.Use = ch.verb + " [" + ch.placeholder() + "...]"
	cmd.Long = ch.short + ": those named, or all that flags select."
	cmd.Example += "\n  sluice " + ch.Name + " " + ch.verb + " --since 1d"
	cmd.Args = cobra.ArbitraryArgs
	if ch.asks {
		ch.AddYes(cmd)
	}
	return cmd
}

// changeAll changes all things that parameters select, page by page. Things that
// appear meanwhile, perhaps because of a change, are left out.
func (ch change) changeAll(ctx context.Context, params url.Values) error {
	const page = "100"
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	bar := ch.Progress(ch.countSelected(ctx, params), ch.calls)
	defer bar.End()
	params.Set("limit", page)
	var all changed
	for more := true; more; more = all.Next != "" {
		var done changed
		if err := ch.Server.Decode(ctx, ch.calls, params, nil, &done); err != nil {
			bar.End()
			return ch.interrupted(all, err)
		}
		all.add(done)
		bar.Steps(done.total() + done.Skipped + done.Refused)
		params.Set("after", done.Next)
	}
	bar.End()
	return ch.reportChange(all)
}

// interrupted reports what was changed before an error. The next call does not select
// those things again.
func (ch change) interrupted(all changed, err error) error {
	if all.total() == 0 {
		return err
	}
	if failed := ch.reportChange(all); failed != nil {
		return failed
	}
	ch.Notef("The same command goes on with the rest.")
	return err
}

// reportChange says how many things were changed, and how many were not.
func (ch change) reportChange(all changed) error {
	report := map[string]any{ch.count: all.total()}
	if len(all.Items) > 0 {
		report["items"] = all.Items
	}
	if all.Skipped > 0 {
		report["skipped"] = all.Skipped
		ch.Notef("%s skipped: their pipelines no longer listen to them.", view.Counted(all.Skipped, ch.called()))
	}
	if all.Refused > 0 {
		report["refused"] = all.Refused
		ch.Notef("%s stayed, rejected again; the first: %s", view.Counted(all.Refused, ch.called()),
			all.refusal().Message)
	}
	return ch.Report(report, "%s: %s", view.Counted(all.total(), ch.called()), ch.count)
}

// countSelected returns how many things parameters select, -1 if that is unknown.
func (ch change) countSelected(ctx context.Context, params url.Values) int {
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
	if ch.Server.Decode(ctx, ch.groups, by, nil, &found) != nil {
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

func (c *changed) total() int { return c.Replayed + c.Admitted + c.Deleted }

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
