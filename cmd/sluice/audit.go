package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func auditCommand(t *cli) *cobra.Command {
	cmd := t.ListVerb(terminal.List{
		Command: "audit.get", Page: "/audit", None: "Nothing of that kind stands in the audit log.",
		Columns: view.Columns("time", "username", "command", "target", "outcome", "address", "count"),
	}, "audit", "Read who did what, newest first")
	cmd.Example = "  sluice audit --since 1h --username admin"
	cmd.AddCommand(auditVerify(t))
	return cmd
}

func auditVerify(t *cli) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, taken out or put in",
		RunE: t.Connected(func(ctx context.Context, _ []string) error {
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
		}),
	}
}
