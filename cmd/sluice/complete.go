package main

import (
	"context"
	_ "embed"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/stretch"
)

// completionTime bounds how long a person who pressed Tab waits for the server.
const completionTime = time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag: a mistake in the program
	}
}

// asking returns a client for a completion, nil if there is none.
func (t *terminal) asking(cmd *cobra.Command) (context.Context, context.CancelFunc, *client.Client) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, stretch.Of(completionTime))
	c, err := t.connect()
	if err != nil {
		c = nil
	}
	return ctx, cancel, c
}

// completeCommand completes the names of commands, their parameters, and the values
// of parameters that have a fixed choice.
func (t *terminal) completeCommand(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel, c := t.asking(cmd)
	defer cancel()
	if c == nil {
		return nil, noFiles
	}
	described, err := c.Describe(ctx)
	if err != nil {
		return nil, noFiles
	}
	if len(args) == 0 {
		var names []cobra.Completion
		for _, known := range described.Commands {
			names = append(names, cobra.CompletionWithDesc(known.Name, known.Summary))
		}
		return names, noFiles
	}
	known, err := described.Find(args[0])
	if err != nil {
		return nil, noFiles
	}
	return completeParameter(known, args[1:], word)
}

func completeParameter(known client.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, value, hasValue := strings.Cut(word, "=")
	if strings.HasPrefix(value, "@") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []cobra.Completion
	for _, p := range known.Params {
		switch {
		case hasValue && p.Name == name:
			for _, choice := range p.Enum {
				found = append(found, name+"="+choice)
			}
		case !hasValue && !slices.ContainsFunc(given, func(arg string) bool { return strings.HasPrefix(arg, p.Name+"=") }):
			found = append(found, cobra.CompletionWithDesc(p.Name+"=", p.Doc))
		}
	}
	if hasValue {
		return found, noFiles
	}
	return found, noFiles | cobra.ShellCompDirectiveNoSpace
}

// completeNames completes with a field of what a command lists.
func (t *terminal) completeNames(command, field string, otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel, c := t.asking(cmd)
		defer cancel()
		if c == nil {
			return nil, otherwise
		}
		names, _ := namesOf(ctx, c, command, field) // a failure completes nothing
		return names, otherwise
	}
}

// namesOf returns a field of what a command lists.
func namesOf(ctx context.Context, c *client.Client, command, field string) ([]string, error) {
	answer, err := c.Command(ctx, command, nil, nil)
	if err != nil {
		return nil, err
	}
	root, err := view.Parse(answer.Body)
	if err != nil {
		return nil, err
	}
	items := view.Items(root)
	if items == nil {
		return nil, nil
	}
	var names []string
	for _, item := range items.Content {
		if name := view.TextOf(item, field); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

func (t *terminal) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	profiles, err := t.profiles()
	if err != nil {
		return nil, noFiles
	}
	names, _ := profiles.Names()
	return names, noFiles
}

// bashWords stands in for the package bash-completion where it is not installed.
//
//go:embed words.bash
var bashWords string

func completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a script that completes command lines",
		Long:  "Print a script that completes command lines: verbs, flags, the server's commands, and the names of webhooks, pipelines and other things.",
		Args:  orVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
