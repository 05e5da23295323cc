package main

import (
	"github.com/spf13/cobra"

	"sluice"
)

func deadletterNoun() *noun {
	return &noun{
		Resource: sluice.Resource{Name: "deadletter", Key: "letter", Get: "deadletter.get", Page: "/deadletters"},
		thing:    "dead letter", short: "See, replay and delete events that pipelines failed on",
		word: "number", example: "17",
		columns: columnsOf("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
		none:    "There are no dead letters.",
		verbs: func(t *terminal, n *noun) []*cobra.Command {
			replay := change{"replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false, "deadletter.groups"}
			remove := change{"delete", "Delete dead letters for good", "deadletter.delete", "deleted", true, "deadletter.groups"}
			groups := list{"deadletter.groups", nil, n.none, n.called() + "s", "", columnsOf("count", "pipeline", "code", "first", "last")}
			return []*cobra.Command{groups.verb(t, "groups", "Count dead letters by pipeline and error"), replay.of(t, n), remove.of(t, n)}
		},
	}
}
