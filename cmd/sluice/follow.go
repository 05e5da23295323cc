package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/value"
)

// follow shows calls and runs as they happen, each in a line.
func (t *terminal) follow(ctx context.Context, params url.Values) error {
	return t.server.Follow(ctx, params, func(entry sluice.TailEntry) error {
		if !t.forPeople() {
			return t.line(entry)
		}
		_, err := fmt.Fprintln(t.out, t.describe(entry))
		return err
	})
}

// line writes a value as one line of JSON.
func (t *terminal) line(v any) error {
	document, err := value.Marshal(v)
	if err != nil {
		return err
	}
	return view.WriteJSON(t.out, document, false)
}

func (t *terminal) describe(entry sluice.TailEntry) string {
	var d struct {
		sluice.Call // a run has some of these fields, too

		Started  time.Time       `json:"started"`
		Pipeline string          `json:"pipeline"`
		Error    *sluice.Problem `json:"error"`
	}
	if err := json.Unmarshal(entry.Data, &d); err != nil || entry.Type != "call" && entry.Type != "run" {
		return view.Printable(entry.Type + " " + string(entry.Data))
	}
	at, what, detail := d.Time, d.EventKey, d.Code
	if entry.Type == "run" {
		at, what = d.Started, cmp.Or(d.Pipeline, "(not stored)")
	}
	if d.Error != nil {
		detail = d.Error.Detail
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %-4s  %s  %s  %s  %s  %s", at.Local().Format(time.TimeOnly), entry.Type,
		view.Printable(d.TraceID), view.Printable(what),
		view.Paint(colours(t.out), cmp.Or(view.StatusColours[d.Status.Word()], view.Green),
			view.Printable(d.Status.Word())), view.Milliseconds(d.Duration), view.Printable(detail)))
}
