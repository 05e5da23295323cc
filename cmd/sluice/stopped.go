package main

import (
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice/config"
	"sluice/serve"
)

// stopped is a server that does not run: its settings, and a log for the work on what it
// has stored.
type stopped struct {
	config.Config

	log *slog.Logger
}

// Settings that say where a server keeps what it stores, and how to open it.
var (
	folderSettings  = []string{"data"}
	stoppedSettings = []string{"data", "nats", "nats-credentials", "nats-replicas", "secret-key-file"}
)

// onStopped makes a verb one that works on what a stopped server has stored: it gets the
// flags that say which server is meant, by the settings of these names.
func (t *terminal) onStopped(cmd *cobra.Command, settings []string, run func(cmd *cobra.Command, at stopped, args []string) error) *cobra.Command {
	file := cmd.Flags().String("config", "", "YAML file with the settings of the server")
	for _, s := range config.Settings() {
		if slices.Contains(settings, s.Name) {
			cmd.Flags().String(s.Name, s.Default, s.Doc)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := make(map[string]string)
		for _, name := range settings {
			if flag := cmd.Flags().Lookup(name); flag.Changed {
				given[name] = flag.Value.String()
			}
		}
		cfg, err := config.Load(firstOf(*file, os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
		if err != nil {
			return err
		}
		log, flush := serve.NewLog(t.err, cfg.LogLevel, cfg.LogFormat)
		defer flush()
		return run(cmd, stopped{cfg, log}, args)
	}
	return cmd
}
