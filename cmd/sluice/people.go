package main

import "github.com/spf13/cobra"

// orphans says what becomes of pipelines whose owner is deleted.
const orphans = "pipelines with this owner fail where they switch users or use secrets, until another user stores them."

func userNoun() *noun {
	return &noun{
		name: "user", short: "Look after users and their passwords",
		key: "username", word: "name", example: "ada", page: "/users",
		get: "iam.user.get", put: "iam.user.put", remove: "iam.user.delete",
		columns: columnsOf("username", "roles", "disabled", "lastUsed", "updated"),
		none:    "There are no users.",
		effect:  "Passwords and tokens of that user are refused from then on, and " + orphans,
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
		name: "role", short: "Look after roles and what they allow",
		key: "role", word: "name", example: "replayer", page: "/roles",
		get: "iam.role.get", put: "iam.role.put", remove: "iam.role.delete",
		columns: columnsOf("role", "permissions", "builtIn"),
		none:    "There are no roles.",
		effect:  "Users who have it lose its permissions.",
	}
}

func clientNoun() *noun {
	return &noun{
		name: "client", short: "Look after programs that get tokens for themselves",
		key: "clientId", word: "id", example: "deployment", page: "/clients",
		get: "iam.client.get", put: "iam.client.put", remove: "iam.client.delete",
		columns: columnsOf("clientId", "roles", "grants", "lastUsed", "updated"),
		none:    "There are no clients; sluice client create makes one.",
		effect:  "Its secret and its tokens are refused from then on, and " + orphans,
	}
}
