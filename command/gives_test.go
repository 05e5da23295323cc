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
		At    time.Time       `json:"at"`
		Value json.RawMessage `json:"value,omitempty"`
	}
	type thing struct {
		inner

		Count  int                `json:"count"`
		Kept   string             `json:"kept,omitempty" always:"yes"`
		Hidden string             `json:"hidden" doc:"-"`
		Parts  []*inner           `json:"parts,omitempty"`
		Shares map[string]float64 `json:"shares"`
	}
	answers := func(opts ...command.Option) command.Command {
		return command.New("test.give", "Give.", func(context.Context, struct{}) (any, error) { return nil, nil }, append(opts, command.Nameless)...)
	}
	const shape = "{at: time, value?: any, count: integer, kept: string, parts?: [{at: time, value?: any}, …], shares: {name: number, …}}"
	for name, test := range map[string]struct {
		command command.Command
		want    string
	}{
		"an object":      {answers(command.Answers(thing{})), "\nGives `" + shape + "`.\n"},
		"a list, or one": {answers(command.Lists[thing]), "\nGives `[" + shape + ", …]`, or one of these.\n"},
		"one of several": {answers(command.Answers(true, "")), "\nGives `boolean`, or `string`.\n"},
		"a file":         {command.New("test.load", "Load.", func(context.Context, struct{}) (d command.Download, err error) { return d, err }, command.Nameless), "\nGives a file.\n"},
		"anything":       {answers(), "`POST`.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if page := command.NewSet(nil, []command.Command{test.command}).Reference(); !strings.HasSuffix(page, test.want) {
				t.Errorf("the page is %s, and should end with %s", page, test.want)
			}
		})
	}
}
