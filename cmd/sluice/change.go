package main

import (
	"context"
	"encoding/json"
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

// refused gives the reason that an answer has for not changing the one thing.
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
	params.Set("limit", strconv.Itoa(page))
	bar := t.progress(-1, ch.command)
	defer bar.end()
	total, items := 0, []json.RawMessage{}
	for {
		answer, err := c.Command(ctx, ch.command, params, nil)
		if err != nil {
			return err
		}
		var done map[string]json.RawMessage
		var number int
		var some []json.RawMessage
		if err := json.Unmarshal(answer.Body, &done); err != nil {
			return err
		}
		_ = json.Unmarshal(done[ch.count], &number) // otherwise it is 0
		_ = json.Unmarshal(done["items"], &some)    // of a replay only
		total += number
		items = append(items, some...)
		if number < page {
			break
		}
	}
	bar.end()
	report := map[string]any{ch.count: total}
	if len(items) > 0 {
		report["items"] = items
	}
	return t.report(report, "%s: %s", counted(total, n.called()), ch.count)
}
