package terminal

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

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

// wrapped breaks a text into lines that fit.
func wrapped(text string) string {
	const width = 100
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > width {
			end := strings.LastIndexByte(line[:width+1], ' ')
			lines = append(lines, line[:end])
			line = line[end+1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
