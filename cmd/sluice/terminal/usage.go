package terminal

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/exit"
	"sluice/spelling"
)

// needs refuses fewer and more arguments than the usage of a verb names, and says what it needs.
func needs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		words := strings.Fields(cmd.Use)[1:]
		least := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "[") })
		switch most := len(words); {
		case len(args) < least || least < 0 && len(args) < most:
			return exit.Usage("%s needs %s, as in: %s", cmd.CommandPath(), what, exampleOf(cmd))
		case most == 0 && len(args) > 0:
			return exit.Usage("%s takes no argument, and %q is one.", cmd.CommandPath(), args[0])
		case len(args) > most && !strings.Contains(cmd.Use, "..."):
			return exit.Usage("%s takes %s, and %q is one argument too many.", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// exampleOf returns the first example of a verb, or how it is used.
func exampleOf(cmd *cobra.Command) string {
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return cmp.Or(example, cmd.UseLine())
}

// orVerb refuses arguments of a command that has verbs: they can only be unknown
// verbs.
func orVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownVerb(cmd, args[0])
	}
	return nil
}

// usageError says what is wrong with a command line.
func usageError(root, cmd *cobra.Command, args []string, err error) error {
	if own, ok := errors.AsType[*exit.CodeError](err); ok {
		if strings.Contains(own.Message, " --help ") {
			return own // it mentions the help already
		}
		return own.Help(cmd)
	}
	if _, _, unknown := root.Find(args); unknown != nil {
		return unknownVerb(root, firstWord(args))
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := wrong.GetFlag()
		return exit.Usage("--%s must be %s, not %q.", flag.Name, wanted(flag.Value.Type()), wrong.GetValue()).Help(cmd)
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	switch given := cmd.Flags().Args(); {
	case !ok:
		return exit.Usage("%v.", err).Help(cmd)
	case cmd.HasSubCommands() && len(given) > 0:
		return unknownVerb(cmd, given[0])
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := missing.GetSpecifiedName()
	if short := missing.GetSpecifiedShortnames(); short != "" {
		return exit.Usage("%s has no flag -%s.", cmd.CommandPath(), name).Help(cmd)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return exit.Usage("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, near)
	}
	return exit.Usage("%s has no flag --%s.", cmd.CommandPath(), name).Help(cmd)
}

// wanted returns in words what a flag of a type takes.
func wanted(flagType string) string {
	words := map[string]string{
		"bool": "true or false", "duration": "a duration such as 30s or 5m",
		"int": "a whole number", "int64": "a whole number", "uint": "a whole number", "uint64": "a whole number",
		"float64": "a number",
	}
	return cmp.Or(words[flagType], "a "+flagType)
}

// firstWord returns the first argument that is not a flag.
func firstWord(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}
