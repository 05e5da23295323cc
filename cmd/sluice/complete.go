package main

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/view"
	"sluice/command"
	"sluice/spelling"
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

// briefly connects a completion to the server for a moment, and reports whether that is possible.
func (t *terminal) briefly(cmd *cobra.Command) (context.Context, context.CancelFunc, bool) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, stretch.Of(completionTime))
	return ctx, cancel, t.connect() == nil
}

// named is for parameters that name a thing: the command that lists such things,
// and the field with the name.
var named = map[string][2]string{
	"eventKey": {"webhook.get", "eventKey"}, "pipeline": {"pipeline.get", "name"},
	"roles": {"iam.role.get", "role"}, "username": {"iam.user.get", "username"},
	"provider": {"provider.get", "provider"},
}

// completeParam completes the values of a flag.
func (t *terminal) completeParam(cmd *cobra.Command, flag string, p command.Param) {
	switch list, ok := named[p.Name]; {
	case len(p.Enum) > 0:
		complete(cmd, flag, cobra.FixedCompletions(choicesOf(p), noFiles))
	case p.Name == "command":
		complete(cmd, flag, cobra.FixedCompletions(t.changing(), noFiles))
	case ok:
		complete(cmd, flag, t.completeNames(list[0], list[1], noFiles))
	}
}

// changing returns the names of the commands whose calls stand in the audit log.
func (t *terminal) changing() (names []string) {
	for _, c := range t.commands.All() {
		if !c.ReadOnly {
			names = append(names, c.Name)
		}
	}
	return names
}

// completeNames completes with a field of what a command lists.
func (t *terminal) completeNames(name, field string, otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel, ok := t.briefly(cmd)
		defer cancel()
		if ok {
			names = t.namesOf(ctx, name, field)
		}
		return names, otherwise
	}
}

// namesOf returns a field of what a command lists, nothing if the server does not say.
func (t *terminal) namesOf(ctx context.Context, name, field string) (names []string) {
	answer, err := t.server.Command(ctx, name, nil, nil)
	if err != nil {
		return nil
	}
	root, err := view.Parse(answer.Body)
	if err != nil {
		return nil
	}
	items := view.Items(root)
	if items == nil {
		return nil
	}
	for _, item := range items.Content {
		if name := view.TextOf(item, field); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// meant suggests another name where a parameter names something unknown.
func (t *terminal) meant(ctx context.Context, params url.Values) {
	for name := range params {
		list, ok := named[name]
		if !ok {
			continue
		}
		names := t.namesOf(ctx, list[0], list[1]) // without names there is no suggestion
		given := params.Get(name)
		if near := spelling.Nearest(given, names); near != "" && !slices.Contains(names, given) {
			t.note(view.Printable("There is no " + given + "; did you mean " + near + "?"))
		}
	}
}

// completeProfiles completes the names of profiles.
func (t *terminal) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	profiles, err := t.profiles()
	if err != nil {
		return nil, noFiles
	}
	names, _ := profiles.Names()
	return names, noFiles
}
