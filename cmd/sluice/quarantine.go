package main

import (
	"github.com/spf13/cobra"

	"sluice"
)

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
