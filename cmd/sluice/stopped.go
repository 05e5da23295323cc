package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/config"
	"sluice/serve"
)

// stopped is a server that does not run: its settings, and a log for work on its data.
type stopped struct {
	config.Config

	log *slog.Logger
}

// Settings that say where a server keeps its data, and how to open it.
var (
	folderSettings  = []string{"data"}
	stoppedSettings = []string{"data", "nats", "nats-credentials", "nats-replicas", "secret-key-file"}
)

// onStopped makes a verb work on the data of a stopped server. The named settings
// become flags that say where the data is.
func (t *terminal) onStopped(cmd *cobra.Command, settings []string, run func(cmd *cobra.Command, at stopped, args []string) error) *cobra.Command {
	file := cmd.Flags().String("config", "", "YAML file with the settings of the server")
	for _, s := range config.Settings() {
		if slices.Contains(settings, s.Name) {
			cmd.Flags().String(s.Name, s.Default, s.Doc)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadSettings(cmd, *file)
		if err != nil {
			return err
		}
		log, flush := serve.NewLog(t.err, cfg.LogLevel, cfg.LogFormat)
		defer flush()
		return run(cmd, stopped{cfg, log}, args)
	}
	return cmd
}

func adminCommand(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admin", Short: "Get back into a server",
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(adminPassword(t))
	t.addForm(cmd)
	return cmd
}

func adminPassword(t *terminal) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "password", Short: "Set the admin's password, with the server stopped",
		Long:    "Set the admin's password, with the server stopped: for whoever has lost it. It is read from SLUICE_ADMIN_PASSWORD, otherwise asked for or read from standard input; without one it is made up and printed. Logins of the admin end. Users and everything else stay as they are.",
		Example: "  sluice admin password --data ./data",
		Args:    arguments(0, 0, ""),
	}, stoppedSettings, func(cmd *cobra.Command, at stopped, _ []string) (err error) {
		password := os.Getenv("SLUICE_ADMIN_PASSWORD")
		if password == "" {
			if password, err = t.secretValue(cmd.Context(), "New password of "+sluice.AdminName+" (empty: one is made up)"); err != nil {
				return err
			}
		}
		generated, err := serve.SetAdminPassword(cmd.Context(), at.Config, password, at.log)
		if err != nil {
			return err
		}
		done := map[string]string{"username": sluice.AdminName}
		if generated == "" {
			return t.report(done, "The user %s has the new password. Start the server again.", sluice.AdminName)
		}
		done["password"] = generated
		return t.report(done, "The user %s has the password %s (shown this once). Start the server again.", sluice.AdminName, generated)
	})
}

// checkSteps is how many steps of progress the reading of a store has.
const checkSteps = 100

func checkCommand(t *terminal) *cobra.Command {
	var accept bool
	cmd := t.onStopped(&cobra.Command{
		Use:   "check",
		Short: "Read a data folder and tell what is damaged",
		Long:  "Read everything in the data folder of a server that is stopped, and tell what is damaged. Nothing is changed. A server that has lost webhooks, accounts or other records refuses to serve, until the folder is restored from a backup; with --accept it goes on with what is left. One that has lost events serves, and tells which.",
		Args:  arguments(0, 0, ""),
	}, folderSettings, func(_ *cobra.Command, at stopped, _ []string) error {
		bar, shown := t.progress(checkSteps, "reading"), int64(0)
		defer bar.end()
		findings, err := serve.Check(at.Data, accept, func(done, total int64) {
			for ; shown < done*checkSteps/max(1, total); shown++ {
				bar.step()
			}
		})
		bar.end()
		if err != nil {
			return err
		}
		for _, finding := range findings {
			fmt.Fprintln(t.out, finding)
		}
		switch {
		case len(findings) == 0:
			fmt.Fprintln(t.out, "Everything can be read, and nothing is missing.")
			return nil
		case accept:
			fmt.Fprintln(t.out, "The server will go on with what is left.")
			return nil
		}
		return sluice.Errorf(sluice.CodeDamaged, "The store is damaged in %s.", counted(len(findings), "place"))
	})
	cmd.Flags().BoolVar(&accept, "accept", false, "let the server go on with what is left")
	return cmd
}
