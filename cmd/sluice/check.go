package main

import (
	"context"
	"fmt"
	"log/slog"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/config"
	"sluice/serve"
)

// checkSteps is how many steps of progress the reading of a store has.
const checkSteps = 100

func (t *cli) check(context.Context) error {
	return t.onStopped(func(cfg config.Config, _ *slog.Logger) error {
		bar, shown := t.Progress(checkSteps, "reading"), int64(0)
		defer bar.End()
		findings, err := serve.Check(cfg.Data, t.On("accept"), func(done, total int64) {
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
		case t.On("accept"):
			fmt.Fprintln(t.Out, "The server will go on with what is left.")
			return nil
		}
		return sluice.CodeDamaged.Errorf("The store is damaged in %s.", view.Counted(len(findings), "place"))
	})
}
