package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/stretch"
)

// completionTime bounds how long a person who pressed Tab waits for the server.
const completionTime = time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// complete sets how the values of a flag are completed.
func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag: a mistake in the program
	}
}

// asking returns a client for a completion. A failure completes nothing.
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

// completeCommand completes the names of commands, their parameters, and values
// where there is a choice.
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
		case !hasValue && !isGiven(given, p.Name):
			found = append(found, cobra.CompletionWithDesc(p.Name+"=", p.Doc))
		}
	}
	if hasValue {
		return found, noFiles
	}
	return found, noFiles | cobra.ShellCompDirectiveNoSpace
}

func isGiven(given []string, name string) bool {
	for _, arg := range given {
		if strings.HasPrefix(arg, name+"=") {
			return true
		}
	}
	return false
}

// completeNames returns a completion by a field of what a command lists.
func (t *terminal) completeNames(command, field string, otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel, c := t.asking(cmd)
		defer cancel()
		if c == nil {
			return nil, otherwise
		}
		names, err := namesOf(ctx, c, command, field)
		if err != nil {
			return nil, otherwise
		}
		return names, otherwise
	}
}

// namesOf returns a field of what a command lists.
func namesOf(ctx context.Context, c *client.Client, command, field string) ([]string, error) {
	answer, err := c.Command(ctx, command, nil, nil)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(answer.Body)
	if err != nil {
		return nil, err
	}
	if items := fieldOf(root, "items"); items != nil {
		root = items
	}
	var names []string
	for _, item := range root.Content {
		if name := textOf(item, field); name != "" {
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
	names, err := profiles.Names()
	if err != nil {
		return nil, noFiles
	}
	return names, noFiles
}
