package main

import (
	_ "embed"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sluice/serve"
)

// bashWords stands in for the package bash-completion where it is not installed.
//
//go:embed words.bash
var bashWords string

func completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a script that completes command lines",
		Long: "Print a script that completes command lines: verbs, flags, the server's commands, and the names\n" +
			"of webhooks, pipelines and other things.",
		Args: orVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, shell := range []struct {
		name, install string
		write         func(root *cobra.Command, w io.Writer) error
	}{
		{"bash", "sluice completion bash > ~/.local/share/bash-completion/completions/sluice\n  echo 'source <(sluice completion bash)' >> ~/.bashrc", writeBash},
		{"zsh", "sluice completion zsh > \"${fpath[1]}/_sluice\"", (*cobra.Command).GenZshCompletion},
		{"fish", "sluice completion fish > ~/.config/fish/completions/sluice.fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell", "sluice completion powershell | Out-String | Invoke-Expression", (*cobra.Command).GenPowerShellCompletionWithDesc},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:     shell.name,
			Short:   "Print the script for " + shell.name,
			Example: "  " + shell.install,
			Args:    arguments(0, 0, ""),
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

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages to a folder",
		Example: "  sluice man /usr/local/share/man/man1",
		Args:    arguments(1, 1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everyone
				return usage("%v", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "sluice " + serve.Version, Manual: "sluice"}
			return doc.GenManTree(root, header, args[0])
		},
	}
}

func versionCommand(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the version of this program",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			told := map[string]string{"version": serve.Version, "commit": serve.Commit(), "go": runtime.Version(), "platform": platform}
			return t.report(told, "sluice %s, %s, %s", serve.Release(), runtime.Version(), platform)
		},
	}
	t.addForm(cmd)
	return cmd
}
