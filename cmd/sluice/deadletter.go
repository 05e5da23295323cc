package main

import (
	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func deadletterResource(t *cli) *resource {
	const counted = "deadletter.groups"
	r := &resource{
		cli:      t,
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
	groups := terminal.List{
		Command: counted, None: r.none, Things: r.called() + "s",
		Columns: view.Columns("count", "pipeline", "code", "first", "last"),
	}
	r.verbs = []*cobra.Command{
		t.ListVerb(groups, "groups", "Count dead letters by pipeline and error"), replay.newVerb(), remove.newVerb(),
	}
	return r
}
