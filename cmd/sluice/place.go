package main

import (
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice/config"
	"sluice/serve"
)

// placeSettings are the settings that say where a server keeps what it stores,
// and how to open it.
var placeSettings = []string{"data", "nats", "nats-credentials", "nats-replicas", "secret-key-file"}

// A place is where a server that does not run keeps what it stores.
type place struct{ file string }

// addFlags gives a verb the flags that say which place is meant.
func (p *place) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "config", "", "YAML file with the settings of the server")
	for _, s := range config.Settings() {
		if slices.Contains(placeSettings, s.Name) {
			cmd.Flags().String(s.Name, s.Default, s.Doc)
		}
	}
}

// open returns the settings of the place, and a log.
func (p *place) open(t *terminal, cmd *cobra.Command) (cfg config.Config, log *slog.Logger, flush func(), err error) {
	given := make(map[string]string)
	for _, name := range placeSettings {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			given[name] = flag.Value.String()
		}
	}
	cfg, err = config.Load(firstOf(p.file, os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
	if err != nil {
		return cfg, nil, nil, err
	}
	log, flush = serve.NewLog(t.err, cfg.LogLevel, cfg.LogFormat)
	return cfg, log, flush, nil
}
