package main

import (
	"context"
	_ "embed"
	"io"
)

// bashWords stands in for the package bash-completion where it is not installed.
//
//go:embed words.bash
var bashWords string

func (t *cli) completion(context.Context) error {
	root := t.Cmd.Root()
	switch t.Verb.Name {
	case "zsh":
		return root.GenZshCompletion(t.Out)
	case "fish":
		return root.GenFishCompletion(t.Out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(t.Out)
	}
	if _, err := io.WriteString(t.Out, bashWords); err != nil {
		return err
	}
	return root.GenBashCompletionV2(t.Out, true)
}
