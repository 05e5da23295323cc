package main

import (
	"github.com/spf13/cobra"

	"sluice"
)

// nouns are the kinds of things that a server keeps. A new one is a line here,
// and a file that says which commands are for it. Further verbs of a noun are a
// list, a change of many things, or written out.
func nouns() []*noun {
	return []*noun{
		webhookNoun(), providerNoun(), quarantineNoun(), pipelineNoun(), deadletterNoun(), secretNoun(),
		userNoun(), roleNoun(), clientNoun(),
	}
}

func nounCommands(t *terminal) []*cobra.Command {
	all := make([]*cobra.Command, len(nouns()))
	for i, n := range nouns() {
		all[i] = nounCommand(t, n)
	}
	return all
}

func quarantineNoun() *noun {
	return &noun{
		Resource: sluice.Resource{Name: "quarantine", Key: "id", Get: "quarantine.get"},
		thing:    "refused call", short: "See refused calls that are kept, let them in, and delete them",
		word: "id", example: "8e28f2:mwi5dwlm8z03z34e",
		columns: columnsOf("id", "time", "eventKey", "code", "size", "remoteAddr", "diagnosis"),
		none:    "No refused calls are kept.",
		verbs: func(t *terminal, n *noun) []*cobra.Command {
			admit := change{"admit", "Let refused calls in after all", "quarantine.admit", "admitted", false, ""}
			remove := change{"delete", "Delete refused calls for good", "quarantine.delete", "deleted", true, ""}
			return []*cobra.Command{admit.of(t, n), remove.of(t, n)}
		},
	}
}

func providerNoun() *noun {
	return &noun{
		Resource: sluice.Resource{Name: "provider", Key: "provider", Get: "provider.get"},
		short:    "See the senders that webhooks know, and how to set them up",
		word:     "name", example: "github",
		columns: columnsOf("provider", "title", "checks"),
		none:    "There are no providers.",
	}
}

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
