package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/value"
)

// followCalls shows calls and runs as they happen, each in a line.
func (t *cli) followCalls(ctx context.Context) error {
	return t.Server.Follow(ctx, t.Params, func(entry sluice.TailEntry) error {
		if !t.ForPeople() {
			return t.writeLine(entry)
		}
		_, err := fmt.Fprintln(t.Out, t.describe(entry))
		return err
	})
}

// writeLine writes a value as one line of JSON.
func (t *cli) writeLine(v any) error {
	document, err := value.Marshal(v)
	if err != nil {
		return err
	}
	return view.WriteJSON(t.Out, document, false)
}

func (t *cli) describe(entry sluice.TailEntry) string {
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
		t.Paint(cmp.Or(view.StatusColours[d.Status.Word()], view.Green), d.Status.Word()),
		view.Milliseconds(d.Duration), view.Printable(detail)))
}
