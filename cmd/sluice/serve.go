package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/config"
	"sluice/serve"
)

func serveCommand(hurry <-chan struct{}) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server. Every setting is a flag, a variable of the environment (--result-ttl is
			SLUICE_RESULT_TTL), and a key of the YAML file given with --config. SLUICE_ADMIN_PASSWORD sets the admin's
			password at the first start.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadSettings(cmd, file)
			if err != nil {
				return err
			}
			if cfg.Demo && cfg.LogLevel == "info" {
				cfg.LogLevel = "error" // its calls would scroll the link away
			}
			log, flush := serve.NewLog(os.Stderr, cfg.LogLevel, cfg.LogFormat)
			defer flush()
			opts := serve.Options{AdminPassword: os.Getenv("SLUICE_ADMIN_PASSWORD"), Log: log, Hurry: hurry}
			return serve.Run(cmd.Context(), cfg, opts, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "YAML file with settings")
	for _, s := range config.Settings() {
		cmd.Flags().String(s.Name, s.Default, s.Doc)
		if s.Switch {
			cmd.Flags().Lookup(s.Name).NoOptDefVal = "true"
		}
	}
	for name := range config.Former { // to be refused with a word on what there is instead
		cmd.Flags().String(name, "", "")
		_ = cmd.Flags().MarkHidden(name) // it is there
	}
	return cmd
}

// loadSettings returns the settings of a server: from flags, variables and the file.
func loadSettings(cmd *cobra.Command, file string) (config.Config, error) {
	given := make(map[string]string)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if config.Has(f.Name) {
			given[f.Name] = f.Value.String()
		}
	})
	return config.Load(cmp.Or(file, os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
}
