package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
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
	done, err := ch.read(answer)
	if err != nil || done.refused == 0 {
		return err
	}
	return done.refusal()
}

// changeAll changes all things that parameters select, page by page, except
// those that appear meanwhile, perhaps because of it.
func (t *terminal) changeAll(ctx context.Context, c *client.Client, ch change, n *noun, params url.Values) error {
	const page = "100"
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	bar := t.progress(ch.selected(ctx, c, params), ch.command)
	defer bar.end()
	params.Set("limit", page)
	all := changedPage{items: []json.RawMessage{}}
	for more := true; more; more = all.next != "" {
		answer, err := c.Command(ctx, ch.command, params, nil)
		if err != nil {
			bar.end()
			return t.interrupted(ch, n, all, err)
		}
		done, err := ch.read(answer)
		if err != nil {
			return err
		}
		all.add(done)
		bar.steps(done.count + done.skipped + done.refused)
		params.Set("after", done.next)
	}
	bar.end()
	return t.reportChange(ch, n, all)
}

// interrupted tells what was changed before an error. Nothing of it is selected again.
func (t *terminal) interrupted(ch change, n *noun, all changedPage, err error) error {
	if all.count == 0 {
		return err
	}
	if failed := t.reportChange(ch, n, all); failed != nil {
		return failed
	}
	t.note("The same command goes on with the rest.")
	return err
}

// reportChange tells how many things were changed, and how many were not.
func (t *terminal) reportChange(ch change, n *noun, all changedPage) error {
	report := map[string]any{ch.count: all.count}
	if len(all.items) > 0 {
		report["items"] = all.items
	}
	if all.skipped > 0 {
		report["skipped"] = all.skipped
		t.note(counted(all.skipped, n.called()) + " skipped: their pipelines no longer listen to them.")
	}
	if all.refused > 0 {
		report["refused"] = all.refused
		t.note(counted(all.refused, n.called()) + " stayed, refused again; the first: " + printable(all.refusal().Message))
	}
	return t.report(report, "%s: %s", counted(all.count, n.called()), ch.count)
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
	count, skipped, refused int
	items                   []json.RawMessage // of some changes only
	next                    string
}

// add adds the page that comes next.
func (p *changedPage) add(next changedPage) {
	p.count, p.skipped, p.refused = p.count+next.count, p.skipped+next.skipped, p.refused+next.refused
	p.items, p.next = append(p.items, next.items...), next.next
}

// refusal returns why the first of the things that were refused was.
func (p *changedPage) refusal() *sluice.Error {
	for _, item := range p.items {
		var refused struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(item, &refused) == nil && refused.Code != "" {
			return &sluice.Error{Kind: sluice.Conflict, Code: refused.Code, Message: refused.Message}
		}
	}
	return sluice.Errorf(sluice.CodeRefused, "The server does not say why.")
}

func (ch change) read(answer client.Answer) (p changedPage, err error) {
	var done map[string]json.RawMessage
	if err := json.Unmarshal(answer.Body, &done); err != nil {
		return p, err
	}
	for name, into := range map[string]any{ch.count: &p.count, "skipped": &p.skipped, "refused": &p.refused, "items": &p.items, "next": &p.next} {
		if done[name] != nil {
			err = errors.Join(err, json.Unmarshal(done[name], into))
		}
	}
	return p, err
}
