package main

import "github.com/spf13/cobra"

func deadletterNoun() *noun {
	return &noun{
		name: "deadletter", thing: "dead letter", short: "See, replay and delete events that pipelines failed on",
		key: "letter", word: "number", example: "17", page: "/deadletters",
		get:     "deadletter.get",
		columns: columnsOf("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
		none:    "There are no dead letters.",
		verbs: func(t *terminal, n *noun) []*cobra.Command {
			replay := change{"replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false}
			remove := change{"delete", "Delete dead letters for good", "deadletter.delete", "deleted", true}
			return []*cobra.Command{replay.of(t, n), remove.of(t, n)}
		},
	}
}
