package main

import (
	"context"
	"os"

	"github.com/spf13/cobra/doc"

	"sluice/cmd/sluice/exit"
	"sluice/serve"
)

func (t *cli) man(context.Context) error {
	if err := os.MkdirAll(t.Args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everyone
		return exit.Usage("%v", err)
	}
	root := t.Cmd.Root()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "sluice " + serve.Version, Manual: "sluice"}
	return doc.GenManTree(root, header, t.Args[0])
}
