package command_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/command"
)

// TestTheReferenceSaysWhatACommandGives: from its declaration alone.
func TestTheReferenceSaysWhatACommandGives(t *testing.T) {
	type inner struct {
		At    time.Time       `json:"at" doc:"When."`
		Value json.RawMessage `json:"value,omitempty" doc:"What."`
	}
	type thing struct {
		inner

		Count  int                `json:"count" doc:"How many."`
		Kept   string             `json:"kept,omitempty" always:"yes" doc:"What is kept."`
		Hidden string             `json:"hidden" doc:"-"`
		Parts  []*inner           `json:"parts,omitempty" doc:"What it has."`
		Shares map[string]float64 `json:"shares" doc:"Whose it is."`
	}
	answers := func(opts ...command.Option) command.Command {
		return command.New("test.give", "Give.", func(context.Context, struct{}) (any, error) { return nil, nil }, append(opts, command.Nameless)...)
	}
	const head = "\n| Gives | Type | Meaning |\n|---|---|---|\n"
	const at = "| `at` | time | When. |\n| `value`, if any | anything | What. |\n"
	const members = head + at + "| `count` | integer | How many. |\n| `kept` | string | What is kept. |\n" +
		"| `parts`, if any | list of [Command_testInner](#command_testinner) | What it has. |\n| `shares` | object of number | Whose it is. |\n"
	const part, parts = "\n### Command_testInner\n" + head + at, "\n## Parts of answers\n"
	for name, test := range map[string]struct {
		command command.Command
		want    string
	}{
		"an object":      {answers(command.Answers(thing{})), members + parts + part},
		"a list, or one": {answers(command.Lists[thing]), "\nGives: list of [Command_testThing](#command_testthing), or [Command_testThing](#command_testthing).\n" + parts + part + "\n### Command_testThing\n" + members},
		"one of several": {answers(command.Answers(true, "")), "\nGives: boolean, or string.\n" + parts},
		"a file":         {command.New("test.load", "Load.", func(context.Context, struct{}) (d command.Download, err error) { return d, err }, command.Nameless), "`POST`.\n" + parts},
	} {
		t.Run(name, func(t *testing.T) {
			if page := command.NewSet(nil, []command.Command{test.command}).Reference(); !strings.HasSuffix(page, test.want) {
				t.Errorf("the page is %s, and should end with %s", page, test.want)
			}
		})
	}
}
