package main

import (
	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/view"
)

func deadletterResource(t *terminal) *resource {
	const counted = "deadletter.groups"
	r := &resource{
		terminal: t,
		Resource: sluice.Resource{Name: "deadletter", Key: "letter", Get: "deadletter.get", Page: "/deadletters"},
		thing:    "dead letter",
		short:    "See, replay and delete events that pipelines failed on",
		word:     "number", example: "17",
		columns: view.Columns("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
		none:    "There are no dead letters.",
	}
	replay := change{
		r, "replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false, counted,
	}
	remove := change{r, "delete", "Delete dead letters for good", "deadletter.delete", "deleted", true, counted}
	groups := list{
		command: counted, none: r.none, things: r.called() + "s",
		columns: view.Columns("count", "pipeline", "code", "first", "last"),
	}
	r.verbs = []*cobra.Command{
		groups.verb(t, "groups", "Count dead letters by pipeline and error"), replay.command(), remove.command(),
	}
	return r
}
