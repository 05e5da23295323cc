package main

import (
	"context"

	"sluice"
	"sluice/cmd/sluice/view"
)

func (t *cli) retry(ctx context.Context) error {
	var done sluice.Retries
	if err := t.Decode(ctx, &done); err != nil {
		return err
	}
	did := "tried now"
	if t.On("dry-run") {
		did = "would be tried"
	}
	return t.Report(done, "%s: %s", view.Counted(done.Retried, "event"), did)
}
