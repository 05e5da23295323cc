package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

// A search for calls, as flags describe it.
type search struct {
	span
	eventKey, status string
	limit            int
	follow           bool
}

func traceCommand(t *terminal) *cobra.Command {
	var s search
	cmd := &cobra.Command{
		Use:   "trace [LAST6[:RANDOM]]",
		Short: "Find calls and what pipelines made of them",
		Long: "Find calls and what pipelines made of them, newest first. The last 6 characters of a webhook's\n" +
			"token find all its calls, a whole trace id finds one. With --follow calls and runs are told as\n" +
			"they happen, until you interrupt.",
		Example: "  sluice trace 4a5575 --since 1h --status error\n  sluice trace --event-key webhook.lead.created --follow",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := url.Values{}
			if len(args) > 0 {
				params.Set("traceId", args[0])
			}
			if s.eventKey != "" {
				params.Set("eventKey", s.eventKey)
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			if s.follow {
				if s.given() || s.status != "" {
					return usage("--follow tells what happens from now on; it takes no span of time and no status.")
				}
				return t.follow(cmd.Context(), c, params)
			}
			return t.trace(cmd.Context(), c, params, s)
		},
	}
	s.addFlags(cmd)
	cmd.Flags().StringVar(&s.eventKey, "event-key", "", "only calls of the webhook with this key")
	cmd.Flags().StringVar(&s.status, "status", "", "only calls that have come so far: ok, error, processing or rejected")
	cmd.Flags().IntVar(&s.limit, "limit", 0, "at most so many")
	cmd.Flags().BoolVar(&s.follow, "follow", false, "tell of calls and runs as they happen")
	complete(cmd, "event-key", t.completeNames("webhook.get", "eventKey", noFiles))
	return cmd
}

func (t *terminal) trace(ctx context.Context, c *client.Client, params url.Values, s search) error {
	if err := s.set(params); err != nil {
		return err
	}
	if s.status != "" {
		params.Set("status", s.status)
	}
	if s.limit != 0 {
		params.Set("limit", strconv.Itoa(s.limit))
	}
	answer, err := c.Command(ctx, "trace.get", params, nil)
	if err != nil {
		return err
	}
	form, err := t.form()
	if err != nil {
		return err
	}
	if form == "table" && strings.Contains(params.Get("traceId"), ":") {
		return writeYAML(t.out, answer.Body) // one call, with all there is to know
	}
	if err := t.show(answer.Body, "time", "traceId", "eventKey", "status", "statusCode", "code", "duration"); err != nil {
		return err
	}
	if nextPage(answer) != "" {
		fmt.Fprintln(t.err, "There is more: take a shorter span of time, or a larger --limit.")
	}
	return nil
}

// follow tells what happens, a line each.
func (t *terminal) follow(ctx context.Context, c *client.Client, params url.Values) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	return c.Follow(ctx, params, func(entry sluice.TailEntry) error {
		if form != "table" {
			return t.line(entry)
		}
		_, err := fmt.Fprintln(t.out, t.describe(entry))
		return err
	})
}

// line writes a value as one line of JSON.
func (t *terminal) line(value any) error {
	document, err := toJSON(value)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := writeJSON(&text, document, false); err != nil {
		return err
	}
	_, err = t.out.Write(text.Bytes())
	return err
}

// describe gives an entry as people read it.
func (t *terminal) describe(entry sluice.TailEntry) string {
	var d struct {
		sluice.Call // a run has some of its fields as well

		Started  time.Time       `json:"started"`
		Pipeline string          `json:"pipeline"`
		Error    *sluice.Problem `json:"error"`
	}
	if err := json.Unmarshal(entry.Data, &d); err != nil || entry.Type != "call" && entry.Type != "run" {
		return printable(entry.Type + " " + string(entry.Data))
	}
	colour := green
	if d.Status == sluice.StatusError || d.Status == sluice.StatusRejected {
		colour = red
	}
	at, what, detail := d.Time, d.EventKey, d.Code
	if entry.Type == "run" {
		at, what = d.Started, firstOf(d.Pipeline, "(not stored)")
	}
	if d.Error != nil {
		detail = d.Error.Detail
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %-4s  %s  %s  %s  %.1fms  %s", at.Local().Format(time.TimeOnly), entry.Type,
		printable(d.TraceID), printable(what), paint(colours(t.out), colour, printable(string(d.Status))), d.Duration, printable(detail)))
}
