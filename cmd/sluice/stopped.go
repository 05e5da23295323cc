package main

import (
	"context"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

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
func (t *cli) onStopped(
	cmd *cobra.Command, settings []string, run func(ctx context.Context, at stopped, args []string) error,
) *cobra.Command {
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
		log, flush := serve.NewLog(t.Err, cfg.LogLevel, cfg.LogFormat)
		defer flush()
		return run(cmd.Context(), stopped{cfg, log}, args)
	}
	return cmd
}
