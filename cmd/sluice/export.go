package main

import (
	"context"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/durable"
	"sluice/manifest"
	"sluice/value"
)

func exportCommand(t *cli) *cobra.Command {
	var tokens, erasures string
	cmd := &cobra.Command{
		Use:   "export [DIR]",
		Short: "Write what the server is configured with to files",
		Long: `Write what the server is configured with to files, one for each webhook, pipeline, role and client:
			DIR/webhooks/webhook.lead.created.yaml, for example. No token and no secret is in them, so that they can
			be kept under version control. Built-in roles and users are left out. sluice apply makes a server as the
			files say. With --tokens the tokens of webhooks are written to a file of their own, so that another server
			can have the same URLs. With --erasures, what was erased is written to a file, to be erased again when an
			older backup is restored; then DIR may be left out.`,
		Example: "  sluice export config\n  sluice export config --tokens ../tokens.yaml\n  sluice export --erasures " +
			"erasures.json",
		Args: terminal.Needs("the folder for the files"),
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			if erasures != "" {
				if err := t.exportErasures(ctx, erasures); err != nil || len(args) == 0 {
					return err
				}
			}
			if len(args) == 0 {
				return exit.Usage("Name the folder for the files, or a file with --erasures.")
			}
			done, err := manifest.Export(ctx, t.Server, args[0])
			if err != nil {
				return err
			}
			if tokens != "" {
				if err := manifest.ExportTokens(ctx, t.Server, args[0], tokens); err != nil {
					return err
				}
				t.Notef("The tokens are in %s, for you alone to read; delete it when it is no longer needed.", tokens)
			}
			for _, folder := range done.Skipped {
				t.Sayf("Left out the %s, which you can't read.", folder)
			}
			for _, file := range done.Stale {
				t.Sayf("The server has nothing of what is in %s; the file is still there.", file)
			}
			return t.Report(done, "Wrote %s to %s; %d unchanged.", view.Counted(len(done.Written), "file"), args[0],
				done.Unchanged)
		}),
	}
	cmd.Flags().StringVar(&tokens, "tokens", "", "write the tokens of webhooks to this file, outside of DIR")
	cmd.Flags().StringVar(&erasures, "erasures", "", "write what was erased to this file")
	return cmd
}

// exportErasures writes what the server has erased to a file.
func (t *cli) exportErasures(ctx context.Context, file string) error {
	var all []sluice.Erasure
	if err := t.Server.Decode(ctx, "event.erasures", nil, nil, &all); err != nil {
		return err
	}
	text, err := value.MarshalIndent(all)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, append(text, '\n')); err != nil {
		return exit.Usage("%v", err)
	}
	return t.Report(map[string]any{"file": file, "erasures": len(all)}, "Wrote %s to %s.",
		view.Counted(len(all), "erasure"), file)
}
