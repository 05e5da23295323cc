package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"sluice/serve"
)

func versionCommand(t *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the version of this program",
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			told := map[string]string{
				"version": serve.Version, "commit": serve.Commit(), "go": runtime.Version(), "platform": platform,
			}
			return t.Report(told, "sluice %s, %s, %s", serve.Release(), runtime.Version(), platform)
		},
	}
	t.AddForm(cmd)
	return cmd
}
