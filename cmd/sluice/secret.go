package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/serve"
)

func secretResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("secret"), short: "Look after secrets that pipelines use",
		word: "name", example: "crm-password",
		columns: columnsOf("name", "lastUsed", "updated"),
		own:     true,
		none:    "There are no secrets; sluice secret put stores one.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			return []*cobra.Command{secretPut(t, r), secretDelete(t, r), secretRekey(t)}
		},
	}
}

func secretPut(t *terminal, r *resource) *cobra.Command {
	var params *parameters
	cmd := r.about(t, "put", "Store a secret, in place of the one of that name if there is one", false, func(cmd *cobra.Command, args []string) error {
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

func secretDelete(t *terminal, r *resource) *cobra.Command {
	var params *parameters
	var yes bool
	cmd := r.about(t, "delete", "Delete secrets", true, func(cmd *cobra.Command, args []string) error {
		values, c, err := params.connect()
		if err != nil {
			return err
		}
		what, effect := "secret "+args[0], "If webhooks or pipelines use it, it is refused."
		if len(args) > 1 {
			what = counted(len(args), "secret")
		}
		if values.Get("force") == "true" {
			effect = r.Effect
		}
		if err := t.confirm(cmd.Context(), yes, "Delete the "+what+"? "+effect); err != nil {
			return err
		}
		return t.forEach(args, "Deleted the secret %s.", func(name string) (client.Answer, error) {
			values.Set("name", name)
			answer, err := c.Command(cmd.Context(), "secret.delete", values, nil)
			return answer, r.missing(cmd.Context(), c, name, err)
		})
	})
	cmd.Long = cmd.Short + ".\nIt is refused while webhooks or pipelines use one; sluice secret show tells which."
	addYes(cmd, &yes)
	params = t.declare(cmd, "secret.delete", "name")
	return cmd
}

// secretRekey works on the data folder, without a server.
func secretRekey(t *terminal) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "rekey", Short: "Seal all that a stopped server has stored with another key",
		Long: "Seal all that a stopped server has stored with another key: webhooks, users, clients, logins,\n" +
			"pipelines, secrets and the keys that sign tokens. The new key is read from SLUICE_NEW_SECRET_KEY,\n" +
			"the one before is found as sluice serve finds it. Interrupted, it can be run again.",
		Example: "  SLUICE_NEW_SECRET_KEY=$(cat new.key) sluice secret rekey --data ./data",
		Args:    arguments(0, 0, ""),
	}, stoppedSettings, func(cmd *cobra.Command, at stopped, _ []string) error {
		key := os.Getenv("SLUICE_NEW_SECRET_KEY")
		if key == "" {
			return usage("SLUICE_NEW_SECRET_KEY is not set; openssl rand -base64 32 makes a key.")
		}
		err := serve.Rekey(cmd.Context(), at.Config, key, at.log, func(step string) { fmt.Fprintln(t.err, step) })
		if err != nil {
			return err
		}
		return t.report(map[string]bool{"rekeyed": true}, "All is sealed with the new key. Start the server with it from now on: SLUICE_SECRET_KEY, or --secret-key-file.")
	})
}

// done calls a command. People see the sentence, programs the answer.
func (t *terminal) done(cmd *cobra.Command, command string, values url.Values, sentence string, args ...any) error {
	c, err := t.connect()
	if err != nil {
		return err
	}
	answer, err := c.Command(cmd.Context(), command, values, nil)
	if err != nil {
		return err
	}
	return t.report(json.RawMessage(answer.Body), sentence, args...)
}
