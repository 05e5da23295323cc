package terminal

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/exit"
)

// irreversible are verbs that are never suggested for a slip, only for another word
// that means the same.
var irreversible = []string{"delete", "rekey", "restore"}

// unknownVerb is the error for a verb that a command does not have.
func unknownVerb(cmd *cobra.Command, name string) error {
	near := cmd.SuggestionsFor(name)
	for _, verb := range cmd.Commands() {
		switch {
		case slices.Contains(verb.SuggestFor, name):
			near = []string{verb.Name()}
		case slices.Contains(irreversible, verb.Name()):
			near = slices.DeleteFunc(near, func(n string) bool { return n == verb.Name() })
		}
	}
	hint := cmd.CommandPath() + " --help lists those there are."
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return exit.Usage("There is no command %q; %s", cmd.CommandPath()+" "+name, hint)
}
