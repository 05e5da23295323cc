package terminal

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/command"
)

// completeCommand completes the names of commands, their parameters, and the values
// of parameters that have a fixed choice.
func (t *Terminal) completeCommand(
	_ *cobra.Command, args []string, word string,
) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, known := range t.Commands.All() {
			found = append(found, cobra.CompletionWithDesc(known.Name, known.Summary))
		}
		return found, noFiles
	}
	known, _ := t.Commands.Find(args[0])
	return completeParameter(known, args[1:], word)
}

func completeParameter(
	known command.Command, given []string, word string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
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
		case !hasValue &&
			!slices.ContainsFunc(given, func(arg string) bool { return strings.HasPrefix(arg, p.Name+"=") }):
			found = append(found, cobra.CompletionWithDesc(p.Name+"=", p.Doc))
		}
	}
	if hasValue {
		return found, noFiles
	}
	return found, noFiles | cobra.ShellCompDirectiveNoSpace
}
