package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

// A change is a verb that changes the named things, or all that flags select,
// and counts them.
type change struct {
	verb, short string
	command     string
	count       string // field with the number, and the word for it: replayed
	asks        bool   // it can't be undone
	groups      string // command that counts what the flags select; "" means that none does
}

func (ch change) of(t *terminal, n *noun) *cobra.Command {
	var params *parameters
	var yes bool
	cmd := n.about(t, ch.verb, ch.short, true, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		selected := len(values) > 0
		if selected == (len(args) > 0) {
			return usage("Say which: name %ss, or select them with flags such as --since.", n.called()).help(cmd)
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		what := "all " + n.called() + "s that the flags select"
		if !selected {
			what = counted(len(args), n.called())
		}
		if err := t.confirm(cmd.Context(), yes || !ch.asks, titleOf(ch.verb)+" "+what+" for good?"); err != nil {
			return err
		}
		if selected {
			return t.changeAll(cmd.Context(), c, ch, n, values)
		}
		return t.forEach(args, titleOf(n.called())+" %s: "+ch.count+".", func(key string) (client.Answer, error) {
			answer, err := c.Command(cmd.Context(), ch.command, url.Values{n.key: {key}}, nil)
			if err == nil {
				err = ch.refused(answer)
			}
			return answer, n.missing(cmd.Context(), c, key, err)
		})
	})
	cmd.Use = ch.verb + " [" + n.arg() + "...]"
	cmd.Long = ch.short + ": those named, or all that flags select."
	cmd.Example += "\n  sluice " + n.name + " " + ch.verb + " --since 1d"
	cmd.Args = cobra.ArbitraryArgs
	if ch.asks {
		addYes(cmd, &yes)
	}
	params = t.declare(cmd, ch.command, n.key, "limit", "after")
	return cmd
}

// refused returns the reason that an answer has for not changing the one thing.
func (ch change) refused(answer client.Answer) error {
	var done struct {
		Refused int `json:"refused"`
		Items   []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"items"`
	}
	_ = json.Unmarshal(answer.Body, &done) // an answer of another form tells of no refusal
	if done.Refused == 0 || len(done.Items) == 0 {
		return nil // it was changed
	}
	return sluice.Errorf(sluice.Conflict, done.Items[0].Code, "%s", done.Items[0].Message)
}

// changeAll changes all things that parameters select, page by page, except
// those that appear meanwhile, perhaps because of it.
func (t *terminal) changeAll(ctx context.Context, c *client.Client, ch change, n *noun, params url.Values) error {
	const page = 100
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	bar := t.progress(ch.selected(ctx, c, params), ch.command)
	defer bar.end()
	params.Set("limit", strconv.Itoa(page))
	total, skipped, items := 0, 0, []json.RawMessage{}
	for more := true; more; {
		answer, err := c.Command(ctx, ch.command, params, nil)
		if err != nil {
			return err
		}
		done, err := ch.read(answer)
		if err != nil {
			return err
		}
		total, skipped, items = total+done.count, skipped+done.skipped, append(items, done.items...)
		bar.steps(done.count + done.skipped)
		params.Set("after", done.next)
		more = done.next != "" || !done.paged && done.count == page
	}
	bar.end()
	report := map[string]any{ch.count: total}
	if len(items) > 0 {
		report["items"] = items
	}
	if skipped > 0 {
		report["skipped"] = skipped
		t.note(counted(skipped, n.called()) + " skipped: their pipelines no longer listen to them.")
	}
	return t.report(report, "%s: %s", counted(total, n.called()), ch.count)
}

// selected returns how many things parameters select, -1 if that can't be told.
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
	answer, err := c.Command(ctx, ch.groups, by, nil)
	if err != nil {
		return -1 // the change itself may be allowed
	}
	var found struct {
		Items []sluice.DeadLetterGroup `json:"items"`
	}
	if json.Unmarshal(answer.Body, &found) != nil {
		return -1
	}
	count := 0
	for _, g := range found.Items {
		if code := params.Get("code"); code == "" || code == g.Code {
			count += g.Count
		}
	}
	return count
}

// A changed page is what the answer to a change of many things says.
type changedPage struct {
	count, skipped int
	items          []json.RawMessage // of some changes only
	paged          bool              // the command has cursors
	next           string
}

func (ch change) read(answer client.Answer) (p changedPage, err error) {
	var done map[string]json.RawMessage
	if err := json.Unmarshal(answer.Body, &done); err != nil {
		return p, err
	}
	for name, into := range map[string]any{ch.count: &p.count, "skipped": &p.skipped, "items": &p.items, "next": &p.next} {
		if done[name] != nil {
			err = errors.Join(err, json.Unmarshal(done[name], into))
		}
	}
	p.paged = ch.groups != ""
	return p, err
}
