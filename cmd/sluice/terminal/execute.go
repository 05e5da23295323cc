package terminal

import (
	"context"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Prepare gives a command line what all of its verbs have in common.
func (t *Terminal) Prepare(root *cobra.Command) {
	root.PersistentPreRunE = t.begin
	addHelp(root)
	suggest(root)
	wrapHelp(root)
	for _, verb := range root.Commands() {
		complement(verb)
	}
}

// complement gives a verb, and those below it, what was not said of it: arguments are refused,
// and a verb that has others explains them.
func complement(cmd *cobra.Command) {
	suggest(cmd)
	wrapHelp(cmd)
	verbs := cmd.Commands()
	if cmd.Args == nil {
		cmd.Args = Needs("")
		if len(verbs) > 0 {
			cmd.Args = orVerb
		}
		if cmd.RunE == nil && len(verbs) > 0 {
			cmd.RunE = help
		}
	}
	for _, verb := range verbs {
		complement(verb)
	}
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// Execute runs a command line.
func (t *Terminal) Execute(ctx context.Context, root *cobra.Command, args []string) error {
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return t.HelpFailed
	case !t.begun:
		return usageError(root, cmd, args, err)
	}
	return err
}

// addHelp adds cobra's command help, and lets it suggest something for unknown commands.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it is there
	help.Use, help.Short, help.Long, help.Args = "help [COMMAND]", "Explain a command", "", cobra.ArbitraryArgs
	help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		switch {
		case err != nil:
			return unknownVerb(cmd.Root(), args[0])
		case len(rest) > 0 && about.HasSubCommands():
			return unknownVerb(about, rest[0])
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}

// goesOn is where a paragraph goes on in the next line, which is indented as the code around it.
var goesOn = regexp.MustCompile(`(\S)\n\t+`)

// wrapHelp breaks what commands say of themselves into lines that fit.
func wrapHelp(cmd *cobra.Command) {
	const width = 100
	var text strings.Builder
	for line := range strings.SplitSeq(goesOn.ReplaceAllString(cmd.Long, "$1 "), "\n") {
		line = strings.TrimLeft(line, "\t")
		for len(line) > width {
			end := strings.LastIndexByte(line[:width+1], ' ')
			text.WriteString(line[:end] + "\n")
			line = line[end+1:]
		}
		text.WriteString(line + "\n")
	}
	cmd.Long = strings.TrimSuffix(text.String(), "\n")
}
