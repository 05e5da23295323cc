package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
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
			what = view.Counted(len(args), r.called())
		}
		if err := t.confirm(cmd.Context(), yes || !ch.asks, view.Title(ch.verb)+" "+what+" for good?"); err != nil {
			return err
		}
		if selected {
			return t.changeAll(cmd.Context(), c, ch, r, values)
		}
		return t.forEach(args, view.Title(r.called())+" %s: "+ch.count+".", func(key string) (client.Answer, error) {
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
		t.note(view.Counted(all.Skipped, r.called()) + " skipped: their pipelines no longer listen to them.")
	}
	if all.Refused > 0 {
		report["refused"] = all.Refused
		t.note(view.Counted(all.Refused, r.called()) + " stayed, rejected again; the first: " + view.Printable(all.refusal().Message))
	}
	return t.report(report, "%s: %s", view.Counted(all.count(), r.called()), ch.count)
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

func retryCommand(t *terminal) *cobra.Command {
	return t.calling(&cobra.Command{
		Use:     "retry [TRACEID]",
		Short:   "Try events now that wait for another attempt",
		Long:    "Try events now that wait for another attempt: that of one call, those that flags select, or all.",
		Example: "  sluice retry 4a5575:mwhgm5pn41onykmb\n  sluice retry --pipeline leads",
		Args:    arguments(0, 1, "one trace id"),
	}, "event.retry", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		if len(args) == 1 {
			values.Set("traceId", args[0])
		}
		var done sluice.Retries
		if err := c.Decode(cmd.Context(), "event.retry", values, nil, &done); err != nil {
			return err
		}
		did := "tried now"
		if values.Get("dryRun") == "true" {
			did = "would be tried"
		}
		return t.report(done, "%s: %s", view.Counted(done.Retried, "event"), did)
	}, "traceId")
}

func replayCommand(t *terminal) *cobra.Command {
	return t.calling(&cobra.Command{
		Use:     "replay [TRACEID]",
		Short:   "Send stored events again",
		Long:    "Send stored events again, under new trace ids: that of one call, or those that flags select in a span of time, however many they are. Interrupted, it says how to go on.",
		Example: "  sluice replay 4a5575:mwhgm5pn41onykmb\n  sluice replay --event-key webhook.lead.created --since 1h --pipeline leads --rate 10",
		Args:    arguments(0, 1, "one trace id"),
	}, "event.replay", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		switch {
		case len(args) == 1 && (values.Has("eventKey") || values.Has("from") || values.Has("to")):
			return usage("Give a trace id, or a span of time and flags that select; not both.")
		case len(args) == 1:
			values.Set("traceId", args[0])
			return t.showAnswer(c.Command(cmd.Context(), "event.replay", values, nil))
		case !values.Has("from"):
			return usage("Give a trace id, or a span of time: --since or --from, and perhaps --event-key.")
		case !values.Has("to"):
			values.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
		}
		return t.replayAll(cmd.Context(), c, values)
	}, "traceId", "limit", "after")
}

// replayAll sends the events of a span of time again, page by page, so that people see
// progress.
func (t *terminal) replayAll(ctx context.Context, c *client.Client, params url.Values) error {
	count, err := t.countReplays(ctx, c, params)
	if err != nil {
		return err
	}
	if count == 0 {
		return sluice.Errorf(sluice.CodeEventUnknown, "No stored event matches; sluice trace finds those there are.")
	}
	if params.Get("dryRun") == "true" {
		return t.report(sluice.Replays{Selected: count}, "%s: would be replayed", view.Counted(count, "event"))
	}
	bar := t.progress(count, "replaying")
	defer bar.end()
	params.Set("limit", "100")
	if perSecond, err := strconv.Atoi(params.Get("rate")); err == nil { // otherwise the server refuses it
		params.Set("limit", strconv.Itoa(min(max(1, 2*perSecond), 1000)))
	}
	var all sluice.Replays
	for more := true; more; more = all.Next != "" {
		var some sluice.Replays
		if err := c.Decode(ctx, "event.replay", params, nil, &some); err != nil {
			bar.end()
			if from, _, _ := strings.Cut(all.Next, ","); from != "" {
				t.note(fmt.Sprintf("%d of %s: replayed. To go on: --from %s; events of that moment may come twice.", all.Replayed, view.Counted(count, "event"), from))
			}
			return err
		}
		all.Replayed, all.Next, all.Items = all.Replayed+some.Replayed, some.Next, append(all.Items, some.Items...)
		params.Set("after", some.Next)
		bar.steps(some.Replayed + some.Skipped)
	}
	bar.end()
	left := func(item sluice.BulkItem) bool { return item.Message != "" }
	if i := slices.IndexFunc(all.Items, left); i >= 0 && all.Replayed == 0 {
		return &sluice.Error{Kind: sluice.Conflict, Code: all.Items[i].Code, Message: all.Items[i].Message}
	}
	all.Items = slices.DeleteFunc(all.Items, left)
	return t.report(all, "%s: replayed", view.Counted(all.Replayed, "event"))
}

// countReplays returns how many events would be sent again.
func (t *terminal) countReplays(ctx context.Context, c *client.Client, params url.Values) (count int, err error) {
	bar := t.progress(-1, "finding the events")
	defer bar.end()
	by := maps.Clone(params)
	by.Set("dryRun", "true")
	by.Set("limit", "1000")
	for more := true; more; more = by.Get("after") != "" {
		var some sluice.Replays
		if err := c.Decode(ctx, "event.replay", by, nil, &some); err != nil {
			return 0, err
		}
		count += some.Selected
		by.Set("after", some.Next)
	}
	return count, nil
}
