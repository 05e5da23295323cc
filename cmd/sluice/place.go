package main

import (
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice/config"
	"sluice/serve"
)

// A place is where a server that does not run keeps what it stores: its settings,
// and a log for the work on it.
type place struct {
	config.Config

	log *slog.Logger
}

// Settings that say where a server keeps what it stores, and how to open it.
var (
	folderSettings = []string{"data"}
	placeSettings  = []string{"data", "nats", "nats-credentials", "nats-replicas", "secret-key-file"}
)

// onPlace makes a verb one that works on a place rather than with a server: it gets
// the flags that say which place is meant, by the settings of these names.
func (t *terminal) onPlace(cmd *cobra.Command, settings []string, run func(cmd *cobra.Command, at place, args []string) error) *cobra.Command {
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
		return run(cmd, place{cfg, log}, args)
	}
	return cmd
}
