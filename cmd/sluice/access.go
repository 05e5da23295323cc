package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

func userResource(t *cli) *resource {
	r := &resource{
		cli: t, Resource: sluice.ResourceNamed("user"), short: "Look after users and their passwords",
		word: "name", example: "ada",
		columns: view.Columns("username", "roles", "disabled", "lastUsed", "updated"),
		none:    "There are no users.",
	}
	r.verbs = []*cobra.Command{userPassword(r)}
	return r
}

func userPassword(r *resource) *cobra.Command {
	cmd := r.about("password", "Set a password: your own, or that of a user", false, nil)
	cmd.Use = "password [USERNAME]"
	cmd.Long = cmd.Short + ".\nThe new password is read from standard input, or asked for. " +
		"Without a username it is your own,\nwhich needs the current one, too: it is asked for, or given with " +
		"--current @file."
	cmd.Args = terminal.Needs("one username")
	return r.Calling(cmd, "iam.password.set", func(ctx context.Context, values url.Values, args []string) error {
		whose := "Your password"
		if len(args) > 0 {
			values.Set("username", args[0])
			whose = "The password of " + args[0]
		} else if !values.Has("current") && r.Asks() {
			current, err := r.AskSecret(ctx, "Current password: ")
			if err != nil {
				return err
			}
			values.Set("current", current)
		}
		password, err := r.SecretValue(ctx, "New password")
		if err != nil {
			return err
		}
		values.Set("password", password)
		return r.Do(ctx, "iam.password.set", values, "%s is set.", whose)
	}, "username", "password")
}

func roleResource(t *cli) *resource {
	return &resource{
		cli: t, Resource: sluice.ResourceNamed("role"), short: "Look after roles and what they allow",
		word: "name", example: "replayer",
		columns: view.Columns("role", "scope", "permissions", "builtIn"),
		none:    "There are no roles.",
	}
}

func clientResource(t *cli) *resource {
	return &resource{
		cli: t, Resource: sluice.ResourceNamed("client"),
		short: "Look after programs that get tokens for themselves",
		word:  "id", example: "deployment",
		columns: view.Columns("clientId", "roles", "grants", "lastUsed", "updated"),
		none:    "There are no clients; sluice client create makes one.",
	}
}
