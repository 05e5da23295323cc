package main

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/pflag"

	"sluice/config"
	"sluice/serve"
)

func (t *cli) serve(ctx context.Context) error {
	cfg, err := t.settings()
	if err != nil {
		return err
	}
	if cfg.Demo && cfg.LogLevel == "info" {
		cfg.LogLevel = "error" // its calls would scroll the link away
	}
	log, flush := serve.NewLog(t.Err, cfg.LogLevel, cfg.LogFormat)
	defer flush()
	opts := serve.Options{AdminPassword: os.Getenv("SLUICE_ADMIN_PASSWORD"), Log: log, Hurry: t.hurry}
	return serve.Run(ctx, cfg, opts, t.Out)
}

// settings returns the settings of a server: from flags, variables and the file.
func (t *cli) settings() (config.Config, error) {
	given := make(map[string]string)
	t.Cmd.Flags().Visit(func(f *pflag.Flag) {
		if config.Has(f.Name) {
			given[f.Name] = f.Value.String()
		}
	})
	return config.Load(cmp.Or(t.Text("config"), os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
}
