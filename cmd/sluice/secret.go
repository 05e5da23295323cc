package main

import (
	"net/url"

	"github.com/spf13/cobra"
)

func secretPut(t *terminal, n *noun) *cobra.Command {
	var params *parameters
	cmd := n.about(t, "put", "Store a secret, in place of the one of that name if there is one", false, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		value, err := t.secretValue(cmd.Context(), "Value of "+args[0])
		if err != nil {
			return err
		}
		values.Set("name", args[0])
		values.Set("value", value)
		return t.done(cmd, "secret.put", values, "Stored the secret %s.", args[0])
	})
	cmd.Long = cmd.Short + ".\nThe value is read from standard input, without a line end behind it, or asked for."
	cmd.Example = "  sluice secret put crm-password < password.txt"
	params = t.declare(cmd, "secret.put", "name", "value")
	return cmd
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

// done calls a command that changes something, and tells people so in a
// sentence.
func (t *terminal) done(cmd *cobra.Command, command string, values url.Values, sentence string, args ...any) error {
	c, err := t.connect()
	if err != nil {
		return err
	}
	answer, err := c.Command(cmd.Context(), command, values, nil)
	if err != nil {
		return err
	}
	form, err := t.form()
	if err != nil || form != "table" {
		return firstError(err, func() error { return t.show(answer.Body) })
	}
	return t.report(nil, sentence, args...)
}
