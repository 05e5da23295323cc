package main

import "github.com/spf13/cobra"

func quarantineNoun() *noun {
	return &noun{
		name: "quarantine", thing: "refused call", short: "See refused calls that are kept, let them in, and delete them",
		key: "id", word: "id", example: "8e28f2:mwi5dwlm8z03z34e",
		get:     "quarantine.get",
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
		name: "provider", short: "See the senders that webhooks know, and how to set them up",
		key: "provider", word: "name", example: "github",
		get:     "provider.get",
		columns: columnsOf("provider", "title", "checks"),
		none:    "There are no providers.",
	}
}
