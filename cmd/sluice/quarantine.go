package main

import (
	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/view"
)

func quarantineResource(t *cli) *resource {
	r := &resource{
		cli:      t,
		Resource: sluice.Resource{Name: "quarantine", Key: "id", Get: "quarantine.get"},
		thing:    "rejected call",
		short:    "See rejected calls that are kept, let them in, and delete them",
		word:     "id", example: "8e28f2:mwi5dwlm8z03z34e",
		columns: view.Columns("id", "time", "eventKey", "code", "size", "remoteAddr", "diagnosis"),
		none:    "No rejected calls are kept.",
	}
	admit := change{r, "admit", "Let rejected calls in after all", "quarantine.admit", "admitted", false, ""}
	remove := change{r, "delete", "Delete rejected calls for good", "quarantine.delete", "deleted", true, ""}
	r.verbs = []*cobra.Command{admit.newVerb(), remove.newVerb()}
	return r
}
