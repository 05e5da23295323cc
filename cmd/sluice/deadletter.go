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

// letters select dead letters, as flags say.
type letters struct {
	span
	pipeline string
	limit    int
}

func (l *letters) addFlags(t *terminal, cmd *cobra.Command) {
	l.span.addFlags(cmd)
	cmd.Flags().StringVar(&l.pipeline, "pipeline", "", "only those of this pipeline")
	complete(cmd, "pipeline", t.completeNames("pipeline.get", "name", noFiles))
}

func (l *letters) params() (url.Values, error) {
	params := url.Values{}
	if l.pipeline != "" {
		params.Set("pipeline", l.pipeline)
	}
	return params, l.set(params)
}

func deadletterCommand(t *terminal) *cobra.Command {
	var l letters
	list := func(cmd *cobra.Command, _ []string) error {
		params, err := l.params()
		if err != nil {
			return err
		}
		if l.limit != 0 {
			params.Set("limit", strconv.Itoa(l.limit))
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		answer, err := c.Command(cmd.Context(), "deadletter.get", params, nil)
		if err != nil {
			return err
		}
		return t.show(answer.Body, "letter", "time", "pipeline", "traceId", "eventKey", "attempts", "error")
	}
	cmd := &cobra.Command{Use: "deadletter", Short: "See, replay and delete events that pipelines failed on", Args: cobra.NoArgs, RunE: list}
	listing := &cobra.Command{Use: "list", Short: "List dead letters, newest first", Args: cobra.NoArgs, RunE: list}
	for _, c := range []*cobra.Command{cmd, listing} {
		l.addFlags(t, c)
		c.Flags().IntVar(&l.limit, "limit", 0, "at most so many")
	}
	cmd.AddCommand(listing, letterShow(t),
		letterChange(t, "replay", "Send the events of dead letters again", "replayed"),
		letterChange(t, "delete", "Delete dead letters for good", "deleted"))
	return cmd
}

func letterShow(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "show LETTER",
		Short:             "Show a dead letter with its event",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			answer, err := c.Command(cmd.Context(), "deadletter.get", url.Values{"letter": {args[0]}}, nil)
			if err != nil {
				return err
			}
			var found struct {
				Items []json.RawMessage `json:"items"`
			}
			if err := json.Unmarshal(answer.Body, &found); err != nil {
				return err
			}
			if len(found.Items) == 0 {
				return sluice.Errorf(sluice.NotFound, "letter-unknown", "There is no dead letter %s; sluice deadletter lists those there are.", args[0])
			}
			return t.show(found.Items[0])
		},
	}
}

// letterChange makes a verb that does something to dead letters and counts them.
func letterChange(t *terminal, verb, short, count string) *cobra.Command {
	var l letters
	cmd := &cobra.Command{
		Use:   verb + " [LETTER...]",
		Short: short,
		Long:  short + ": those named, or all that flags select.",
		RunE: func(cmd *cobra.Command, args []string) error {
			selected := l.pipeline != "" || l.given()
			if selected == (len(args) > 0) {
				return usage("Say which: name letters, or give --pipeline, --since, --from or --to.")
			}
			params, err := l.params()
			if err != nil {
				return err
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			if selected {
				return t.changeAll(cmd.Context(), c, "deadletter."+verb, params, count)
			}
			return t.forEach(args, func(letter string) (client.Answer, error) {
				return c.Command(cmd.Context(), "deadletter."+verb, url.Values{"letter": {letter}}, nil)
			})
		},
	}
	l.addFlags(t, cmd)
	return cmd
}

// changeAll does something to all dead letters that parameters select, some at a
// time. Those that come up in the meantime, perhaps because of it, are not meant.
func (t *terminal) changeAll(ctx context.Context, c *client.Client, command string, params url.Values, count string) error {
	const batch = 100
	if params.Get("to") == "" {
		params.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
	}
	params.Set("limit", strconv.Itoa(batch))
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
		_ = json.Unmarshal(done[count], &number) // else it is 0
		_ = json.Unmarshal(done["items"], &some) // of a replay only
		total += number
		items = append(items, some...)
		if number < batch {
			break
		}
	}
	bar.end()
	report := map[string]any{count: total}
	if len(items) > 0 {
		report["items"] = items
	}
	return t.report(report, "%s: %d", count, total)
}
