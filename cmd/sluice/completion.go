package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"
)

// bashWords stands in for the package bash-completion where it is not installed.
//
//go:embed words.bash
var bashWords string

func completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a script that completes command lines",
		Long: `Print a script that completes command lines: verbs, flags, the server's commands, and the names of
			webhooks, pipelines and other things.`,
	}
	for _, shell := range []struct {
		name, install string
		write         func(root *cobra.Command, w io.Writer) error
	}{
		{"bash", "sluice completion bash > ~/.local/share/bash-completion/completions/sluice\n  echo 'source " +
			"<(sluice completion bash)' >> ~/.bashrc", writeBash},
		{"zsh", "sluice completion zsh > \"${fpath[1]}/_sluice\"", (*cobra.Command).GenZshCompletion},
		{"fish", "sluice completion fish > ~/.config/fish/completions/sluice.fish",
			func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell", "sluice completion powershell | Out-String | Invoke-Expression",
			(*cobra.Command).GenPowerShellCompletionWithDesc},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:     shell.name,
			Short:   "Print the script for " + shell.name,
			Example: "  " + shell.install,
			RunE:    func(cmd *cobra.Command, _ []string) error { return shell.write(cmd.Root(), cmd.OutOrStdout()) },
		})
	}
	return cmd
}

// writeBash writes a script that needs nothing but bash.
func writeBash(root *cobra.Command, w io.Writer) error {
	if _, err := io.WriteString(w, bashWords); err != nil {
		return err
	}
	return root.GenBashCompletionV2(w, true)
}
