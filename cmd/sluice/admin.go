package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/serve"
)

func adminCommand(t *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admin", Short: "Get back into a server",
		Args: terminal.Needs(""),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(adminPassword(t))
	t.AddForm(cmd)
	return cmd
}

func adminPassword(t *cli) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "password", Short: "Set the admin's password, with the server stopped",
		Long: `Set the admin's password, with the server stopped: for whoever has lost it. It is read from
			SLUICE_ADMIN_PASSWORD, otherwise asked for or read from standard input; without one it is made up and
			printed. Logins of the admin end. Users and everything else stay as they are.`,
		Example: "  sluice admin password --data ./data",
	}, stoppedSettings, func(ctx context.Context, at stopped, _ []string) (err error) {
		password := os.Getenv("SLUICE_ADMIN_PASSWORD")
		if password == "" {
			if password, err = t.SecretValue(ctx, "New password of "+sluice.AdminName+
				" (empty: one is made up)"); err != nil {
				return err
			}
		}
		generated, err := serve.SetAdminPassword(ctx, at.Config, password, at.log)
		if err != nil {
			return err
		}
		done := map[string]string{"username": sluice.AdminName}
		if generated == "" {
			return t.Report(done, "The user %s has the new password. Start the server again.", sluice.AdminName)
		}
		done["password"] = generated
		return t.Report(done, "The user %s has the password %s (shown this once). Start the server again.",
			sluice.AdminName, generated)
	})
}
