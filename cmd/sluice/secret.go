package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/serve"
)

func secretResource(t *cli) *resource {
	r := &resource{
		cli: t, Resource: sluice.ResourceNamed("secret"), short: "Look after secrets that pipelines use",
		word: "name", example: "crm-password",
		columns: view.Columns("name", "lastUsed", "updated"),
		own:     true,
		none:    "There are no secrets; sluice secret put stores one.",
	}
	r.verbs = []*cobra.Command{secretPut(r), secretDelete(r), secretRekey(t)}
	return r
}

func secretPut(r *resource) *cobra.Command {
	cmd := r.about("put", "Store a secret, in place of the one of that name if there is one", false, nil)
	cmd.Long = cmd.Short + ".\nThe value is read from standard input, without a line end behind it, or asked for."
	cmd.Example = "  sluice secret put crm-password < password.txt"
	return r.Calling(cmd, r.Put, func(ctx context.Context, values url.Values, args []string) error {
		value, err := r.SecretValue(ctx, "Value of "+args[0])
		if err != nil {
			return err
		}
		values.Set("name", args[0])
		values.Set("value", value)
		return r.Do(ctx, r.Put, values, "Stored the secret %s.", args[0])
	}, "name", "value")
}

func secretDelete(r *resource) *cobra.Command {
	cmd := r.about("delete", "Delete secrets", true, nil)
	cmd.Long = cmd.Short + ".\nIt is refused while webhooks or pipelines use one; sluice secret show tells which."
	r.AddYes(cmd)
	return r.Calling(cmd, r.Remove, func(ctx context.Context, values url.Values, args []string) error {
		effect := "If webhooks or pipelines use it, it is refused."
		if values.Get("force") == "true" {
			effect = r.Effect
		}
		return r.deleteThings(ctx, args, effect, values)
	}, "name")
}

// secretRekey works on the data folder, without a server.
func secretRekey(t *cli) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "rekey", Short: "Seal all that a stopped server has stored with another key",
		Long: `Seal all that a stopped server has stored with another key: webhooks, users, clients, logins,
			pipelines, secrets and the keys that sign tokens. The new key is read from SLUICE_NEW_SECRET_KEY, the one
			before is found as sluice serve finds it. Interrupted, it can be run again.`,
		Example: "  SLUICE_NEW_SECRET_KEY=$(cat new.key) sluice secret rekey --data ./data",
	}, stoppedSettings, func(ctx context.Context, at stopped, _ []string) error {
		key := os.Getenv("SLUICE_NEW_SECRET_KEY")
		if key == "" {
			return exit.Usage("SLUICE_NEW_SECRET_KEY is not set; openssl rand -base64 32 makes a key.")
		}
		err := serve.Rekey(ctx, at.Config, key, at.log, func(step string) { fmt.Fprintln(t.Err, step) })
		if err != nil {
			return err
		}
		return t.Report(map[string]bool{"rekeyed": true}, "All is sealed with the new key. "+
			"Start the server with it from now on: SLUICE_SECRET_KEY, or --secret-key-file.")
	})
}
