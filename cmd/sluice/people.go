package main

import (
	"github.com/spf13/cobra"

	"sluice"
)

func userNoun() *noun {
	return &noun{
		Resource: sluice.ResourceNamed("user"), short: "Look after users and their passwords",
		word: "name", example: "ada",
		columns: columnsOf("username", "roles", "disabled", "lastUsed", "updated"),
		none:    "There are no users.",
		verbs:   func(t *terminal, n *noun) []*cobra.Command { return []*cobra.Command{userPassword(t, n)} },
	}
}

func userPassword(t *terminal, n *noun) *cobra.Command {
	var params *parameters
	cmd := n.about(t, "password", "Set a password: your own, or that of a user", false, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		whose := "Your password"
		if len(args) > 0 {
			values.Set("username", args[0])
			whose = "The password of " + args[0]
		} else if !values.Has("current") && isTerminal(t.in) {
			current, err := t.askSecret(cmd.Context(), "Current password: ")
			if err != nil {
				return err
			}
			values.Set("current", current)
		}
		password, err := t.secretValue(cmd.Context(), "New password")
		if err != nil {
			return err
		}
		values.Set("password", password)
		return t.done(cmd, "iam.password.set", values, "%s is set.", whose)
	})
	cmd.Use = "password [USERNAME]"
	cmd.Long = cmd.Short + ".\nThe new password is read from standard input, or asked for. Without a username it is your own,\nwhich needs the current one, too: it is asked for, or given with --current @file."
	cmd.Args = arguments(0, 1, "one username")
	params = t.declare(cmd, "iam.password.set", "username", "password")
	return cmd
}

func roleNoun() *noun {
	return &noun{
		Resource: sluice.ResourceNamed("role"), short: "Look after roles and what they allow",
		word: "name", example: "replayer",
		columns: columnsOf("role", "permissions", "builtIn"),
		none:    "There are no roles.",
	}
}

func clientNoun() *noun {
	return &noun{
		Resource: sluice.ResourceNamed("client"), short: "Look after programs that get tokens for themselves",
		word: "id", example: "deployment",
		columns: columnsOf("clientId", "roles", "grants", "lastUsed", "updated"),
		none:    "There are no clients; sluice client create makes one.",
	}
}
