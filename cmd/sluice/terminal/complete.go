package terminal

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/view"
	"sluice/command"
	"sluice/spelling"
	"sluice/stretch"
)

// completionTime bounds how long a person who pressed Tab waits for the server.
const completionTime = time.Second

// noFiles ends completions: no files fit either.
const noFiles = cobra.ShellCompDirectiveNoFileComp

func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag: a mistake in the program
	}
}

// briefly connects a completion to the server for a moment, and reports whether that is possible.
func (t *Terminal) briefly(cmd *cobra.Command) (context.Context, context.CancelFunc, bool) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, stretch.Of(completionTime))
	t.Cmd = cmd
	return ctx, cancel, t.Connect() == nil
}

// named is for parameters that name a thing: the command that lists such things,
// and the field with the name.
var named = map[string][2]string{
	"eventKey": {"webhook.get", "eventKey"}, "pipeline": {"pipeline.get", "name"},
	"roles": {"iam.role.get", "role"}, "username": {"iam.user.get", "username"},
	"provider": {"provider.get", "provider"},
}

// completeParam completes the values of a flag.
func (t *Terminal) completeParam(cmd *cobra.Command, flag string, p command.Param) {
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
func (t *Terminal) changing() (names []string) {
	for _, c := range t.Commands.All() {
		if !c.ReadOnly {
			names = append(names, c.Name)
		}
	}
	return names
}

// completes returns what completes arguments: profiles, commands, or a command and the field of what it
// lists, perhaps with "or file" behind it.
func (t *Terminal) completes(what string) cobra.CompletionFunc {
	words := strings.Fields(what)
	switch {
	case what == "":
		return nil
	case what == "profiles":
		return t.completeProfiles
	case what == "commands":
		return t.completeCommand
	case len(words) > 2:
		return t.completeNames(words[0], words[1], cobra.ShellCompDirectiveDefault)
	}
	return t.completeNames(words[0], words[1], noFiles)
}

// completeNames completes with a field of what a command lists.
func (t *Terminal) completeNames(name, field string, otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel, ok := t.briefly(cmd)
		defer cancel()
		if ok {
			names = t.NamesOf(ctx, name, field)
		}
		return names, otherwise
	}
}

// NamesOf returns a field of what a command lists, nothing if the server does not say.
func (t *Terminal) NamesOf(ctx context.Context, name, field string) (names []string) {
	answer, err := t.Server.Command(ctx, name, nil, nil)
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
func (t *Terminal) meant(ctx context.Context) {
	for name := range t.Params {
		list, ok := named[name]
		if !ok {
			continue
		}
		names := t.NamesOf(ctx, list[0], list[1]) // without names there is no suggestion
		given := t.Params.Get(name)
		if near := spelling.Nearest(given, names); near != "" && !slices.Contains(names, given) {
			t.Notef("There is no %s; did you mean %s?", given, near)
		}
	}
}

// completeProfiles completes the names of profiles.
func (t *Terminal) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	profiles, err := t.Profiles()
	if err != nil {
		return nil, noFiles
	}
	names, _ := profiles.Names()
	return names, noFiles
}
