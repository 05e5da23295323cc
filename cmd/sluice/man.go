package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/serve"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages to a folder",
		Example: "  sluice man /usr/local/share/man/man1",
		Args:    terminal.Needs("a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everyone
				return exit.Usage("%v", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "sluice " + serve.Version, Manual: "sluice"}
			return doc.GenManTree(root, header, args[0])
		},
	}
}
