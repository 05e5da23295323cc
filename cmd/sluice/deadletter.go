package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
)

func letterReplay(t *terminal, n *noun) *cobra.Command {
	return letterChange(t, n, "replay", "Send the events of dead letters again", "replayed", func(context.Context, string) error { return nil })
}

func letterDelete(t *terminal, n *noun) *cobra.Command {
	var yes bool
	cmd := letterChange(t, n, "delete", "Delete dead letters for good", "deleted", func(ctx context.Context, what string) error {
		return t.confirm(ctx, yes, "Delete "+what+" for good?")
	})
	addYes(cmd, &yes)
	return cmd
}

// letterChange makes a verb that does something to dead letters and counts them.
func letterChange(t *terminal, n *noun, verb, short, count string, agree func(ctx context.Context, what string) error) *cobra.Command {
	var params *parameters
	cmd := n.about(t, verb, short, true, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		selected := len(values) > 0
		if selected == (len(args) > 0) {
			return usage("Say which: name letters, or select them with flags such as --pipeline or --since.").help(cmd)
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		what := "all dead letters that the flags select"
		if !selected {
			what = counted(len(args), n.called())
		}
		if err := agree(cmd.Context(), what); err != nil {
			return err
		}
		if selected {
			return t.changeAll(cmd.Context(), c, "deadletter."+verb, values, count)
		}
		return t.forEach(args, "Dead letter %s: "+count+".", func(letter string) (client.Answer, error) {
			answer, err := c.Command(cmd.Context(), "deadletter."+verb, url.Values{"letter": {letter}}, nil)
			return answer, n.missing(cmd.Context(), c, letter, err)
		})
	})
	cmd.Use = verb + " [LETTER...]"
	cmd.Long = short + ": those named, or all that flags select."
	cmd.Example += "\n  sluice deadletter " + verb + " --pipeline leads --since 1d"
	cmd.Args = cobra.ArbitraryArgs
	params = t.declare(cmd, "deadletter."+verb, "letter", "limit", "after")
	return cmd
}

// changeAll does something to all dead letters that parameters select, page by
// page. Those that come up in the meantime, perhaps because of it, are not meant.
func (t *terminal) changeAll(ctx context.Context, c *client.Client, command string, params url.Values, count string) error {
	const page = 100
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	params.Set("limit", strconv.Itoa(page))
	bar := t.progress(-1, command)
	defer bar.end()
	total, items := 0, []json.RawMessage{}
	for {
		answer, err := c.Command(ctx, command, params, nil)
		if err != nil {
			return err
		}
		var done map[string]json.RawMessage
		var number int
		var some []json.RawMessage
		if err := json.Unmarshal(answer.Body, &done); err != nil {
			return err
		}
		_ = json.Unmarshal(done[count], &number) // otherwise it is 0
		_ = json.Unmarshal(done["items"], &some) // of a replay only
		total += number
		items = append(items, some...)
		if number < page {
			break
		}
	}
	bar.end()
	report := map[string]any{count: total}
	if len(items) > 0 {
		report["items"] = items
	}
	return t.report(report, "%s: %s", counted(total, "dead letter"), count)
}
