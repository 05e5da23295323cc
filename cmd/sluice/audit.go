package main

import (
	"context"
	"encoding/json"

	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

func (t *cli) auditVerify(ctx context.Context) error {
	answer, err := t.Server.Command(ctx, "audit.verify", nil, nil)
	if err := t.ShowAnswer(answer, err); err != nil {
		return err
	}
	var found struct{ Breaks []any }
	if err := json.Unmarshal(answer.Body, &found); err != nil {
		return err
	}
	if len(found.Breaks) > 0 {
		return exit.Errorf(exit.Conflict, "The audit log was tampered with: its chain breaks in %s.",
			view.Counted(len(found.Breaks), "place"))
	}
	return nil
}
