package main

import (
	"net/url"

	"github.com/spf13/cobra"
)

func secretNoun() *noun {
	return &noun{
		name: "secret", short: "Look after secrets that pipelines use",
		key: "name", word: "name", example: "crm-password", page: "/secrets",
		get: "secret.get", remove: "secret.delete",
		columns: columnsOf("name", "updated"),
		none:    "There are no secrets; sluice secret put stores one.",
		effect:  "Pipelines that use it fail from then on.",
		verbs:   func(t *terminal, n *noun) []*cobra.Command { return []*cobra.Command{secretPut(t, n)} },
	}
}

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

// done calls a command that changes something, and says so to people in a
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
