package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"sluice/config"
	"sluice/serve"
)

func serveCommand(hurry <-chan struct{}) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server. Every setting is a flag, a variable of the environment (--result-ttl is\n" +
			"SLUICE_RESULT_TTL), and a key of the YAML file given with --config. SLUICE_ADMIN_PASSWORD\n" +
			"sets the admin's password at the first start.",
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadSettings(cmd, file)
			if err != nil {
				return err
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
		if s.Default == "false" || s.Default == "true" || s.Name == "seal-events" {
			cmd.Flags().Lookup(s.Name).NoOptDefVal = "true"
		}
	}
	return cmd
}

// loadSettings returns the settings of a server: from flags, variables and the file.
func loadSettings(cmd *cobra.Command, file string) (config.Config, error) {
	given := make(map[string]string)
	for _, s := range config.Settings() {
		if flag := cmd.Flags().Lookup(s.Name); flag != nil && flag.Changed {
			given[s.Name] = flag.Value.String()
		}
	}
	return config.Load(cmp.Or(file, os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
}
