// Package trace has the command trace.get, which searches calls. Package
// journal keeps calls and searches them; the live tail is an endpoint of
// package api.
package trace

import (
	"context"

	"sluice"
	"sluice/command"
)

// Options are what the command needs.
type Options struct {
	Journal sluice.Journal
	Results sluice.Results
	Seen    func(ctx context.Context, command, target string) // called when a user sees payloads
}

// Commands returns the command that finds calls.
func Commands(o Options) []command.Command {
	return []command.Command{
		command.New("trace.get", "Find calls, newest first: accepted ones with what pipelines made of them, and "+
			"rejected ones. Users who may see payloads also get the correlation ids, and with a whole trace id the "+
			"payload and the result.", o.get, command.ReadOnly),
	}
}
