package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/serve"
)

// checkSteps is how many steps of progress the reading of a store has.
const checkSteps = 100

func checkCommand(t *cli) *cobra.Command {
	var accept bool
	cmd := t.onStopped(&cobra.Command{
		Use:   "check",
		Short: "Read a data folder and tell what is damaged",
		Long: `Read everything in the data folder of a server that is stopped, and tell what is damaged. Nothing is
			changed. A server that has lost webhooks, accounts or other records refuses to serve, until the folder is
			restored from a backup; with --accept it goes on with what is left. One that has lost events serves, and
			tells which.`,
	}, folderSettings, func(_ context.Context, at stopped, _ []string) error {
		bar, shown := t.Progress(checkSteps, "reading"), int64(0)
		defer bar.End()
		findings, err := serve.Check(at.Data, accept, func(done, total int64) {
			for ; shown < done*checkSteps/max(1, total); shown++ {
				bar.Steps(1)
			}
		})
		bar.End()
		if err != nil {
			return err
		}
		for _, finding := range findings {
			fmt.Fprintln(t.Out, finding)
		}
		switch {
		case len(findings) == 0:
			fmt.Fprintln(t.Out, "Everything can be read, and nothing is missing.")
			return nil
		case accept:
			fmt.Fprintln(t.Out, "The server will go on with what is left.")
			return nil
		}
		return sluice.Errorf(sluice.CodeDamaged, "The store is damaged in %s.", view.Counted(len(findings), "place"))
	})
	cmd.Flags().BoolVar(&accept, "accept", false, "let the server go on with what is left")
	return cmd
}
