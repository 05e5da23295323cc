package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/missed"
	"sluice/serve"
)

func quarantineResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "quarantine", Key: "id", Get: "quarantine.get"},
		thing:    "rejected call", short: "See rejected calls that are kept, let them in, and delete them",
		word: "id", example: "8e28f2:mwi5dwlm8z03z34e",
		columns: view.Columns("id", "time", "eventKey", "code", "size", "remoteAddr", "diagnosis"),
		none:    "No rejected calls are kept.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			admit := change{"admit", "Let rejected calls in after all", "quarantine.admit", "admitted", false, ""}
			remove := change{"delete", "Delete rejected calls for good", "quarantine.delete", "deleted", true, ""}
			return []*cobra.Command{admit.of(t, r), remove.of(t, r)}
		},
	}
}

func providerResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "provider", Key: "provider", Get: "provider.get"},
		short:    "See the senders that webhooks know, and how to set them up",
		word:     "name", example: "github",
		columns: view.Columns("provider", "title", "retries", "checks"),
		none:    "There are no providers.",
	}
}

func deadletterResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "deadletter", Key: "letter", Get: "deadletter.get", Page: "/deadletters"},
		thing:    "dead letter", short: "See, replay and delete events that pipelines failed on",
		word: "number", example: "17",
		columns: view.Columns("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
		none:    "There are no dead letters.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			replay := change{"replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false, "deadletter.groups"}
			remove := change{"delete", "Delete dead letters for good", "deadletter.delete", "deleted", true, "deadletter.groups"}
			groups := list{"deadletter.groups", nil, r.none, r.called() + "s", "", view.Columns("count", "pipeline", "code", "first", "last")}
			return []*cobra.Command{groups.verb(t, "groups", "Count dead letters by pipeline and error"), replay.of(t, r), remove.of(t, r)}
		},
	}
}

func userResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("user"), short: "Look after users and their passwords",
		word: "name", example: "ada",
		columns: view.Columns("username", "roles", "disabled", "lastUsed", "updated"),
		none:    "There are no users.",
		verbs:   func(t *terminal, r *resource) []*cobra.Command { return []*cobra.Command{userPassword(t, r)} },
	}
}

func userPassword(t *terminal, r *resource) *cobra.Command {
	cmd := r.about(t, "password", "Set a password: your own, or that of a user", false, nil)
	cmd.Use = "password [USERNAME]"
	cmd.Long = cmd.Short + ".\nThe new password is read from standard input, or asked for. Without a username it is your own,\nwhich needs the current one, too: it is asked for, or given with --current @file."
	cmd.Args = arguments(0, 1, "one username")
	return t.calling(cmd, "iam.password.set", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
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
		return t.done(cmd, c, "iam.password.set", values, "%s is set.", whose)
	}, "username", "password")
}

func roleResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("role"), short: "Look after roles and what they allow",
		word: "name", example: "replayer",
		columns: view.Columns("role", "scope", "permissions", "builtIn"),
		none:    "There are no roles.",
	}
}

func clientResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("client"), short: "Look after programs that get tokens for themselves",
		word: "id", example: "deployment",
		columns: view.Columns("clientId", "roles", "grants", "lastUsed", "updated"),
		none:    "There are no clients; sluice client create makes one.",
	}
}

func secretResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("secret"), short: "Look after secrets that pipelines use",
		word: "name", example: "crm-password",
		columns: view.Columns("name", "lastUsed", "updated"),
		own:     true,
		none:    "There are no secrets; sluice secret put stores one.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			return []*cobra.Command{secretPut(t, r), secretDelete(t, r), secretRekey(t)}
		},
	}
}

func secretPut(t *terminal, r *resource) *cobra.Command {
	cmd := r.about(t, "put", "Store a secret, in place of the one of that name if there is one", false, nil)
	cmd.Long = cmd.Short + ".\nThe value is read from standard input, without a line end behind it, or asked for."
	cmd.Example = "  sluice secret put crm-password < password.txt"
	return t.calling(cmd, "secret.put", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		value, err := t.secretValue(cmd.Context(), "Value of "+args[0])
		if err != nil {
			return err
		}
		values.Set("name", args[0])
		values.Set("value", value)
		return t.done(cmd, c, "secret.put", values, "Stored the secret %s.", args[0])
	}, "name", "value")
}

func secretDelete(t *terminal, r *resource) *cobra.Command {
	var yes bool
	cmd := r.about(t, "delete", "Delete secrets", true, nil)
	cmd.Long = cmd.Short + ".\nIt is refused while webhooks or pipelines use one; sluice secret show tells which."
	addYes(cmd, &yes)
	return t.calling(cmd, "secret.delete", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		what, effect := "secret "+args[0], "If webhooks or pipelines use it, it is refused."
		if len(args) > 1 {
			what = view.Counted(len(args), "secret")
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
	}, "name")
}

// secretRekey works on the data folder, without a server.
func secretRekey(t *terminal) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "rekey", Short: "Seal all that a stopped server has stored with another key",
		Long:    "Seal all that a stopped server has stored with another key: webhooks, users, clients, logins, pipelines, secrets and the keys that sign tokens. The new key is read from SLUICE_NEW_SECRET_KEY, the one before is found as sluice serve finds it. Interrupted, it can be run again.",
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
func (t *terminal) done(cmd *cobra.Command, c *client.Client, command string, values url.Values, sentence string, args ...any) error {
	answer, err := c.Command(cmd.Context(), command, values, nil)
	if err != nil {
		return err
	}
	return t.report(json.RawMessage(answer.Body), sentence, args...)
}

func webhookResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("webhook"), short: "Create webhooks, look after them, and test them",
		word: "event key", handle: "uuid", example: "webhook.lead.created",
		columns: view.Columns("eventKey", "provider", "payloadType", "maxPayloadLength", "disabled", "uuid", "updated", "description"),
		none:    "There are no webhooks; sluice webhook create makes one.",
		prefer:  preferRaw,
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			return []*cobra.Command{webhookURL(t, r), webhookTest(t, r), webhookToken(t, r), webhookMissed(t, r)}
		},
	}
}

// preferRaw makes a new webhook pass on its payloads as they are, as the portal does.
func preferRaw(t *terminal, values url.Values) {
	if values.Has("payloadType") || values.Has("payloadHandling") {
		return
	}
	values.Set("payloadType", string(sluice.Raw))
	t.note("Pipelines see its payloads as they are; with --payload-type base64 they get every byte.")
}

func webhookURL(t *terminal, r *resource) *cobra.Command {
	cmd := r.about(t, "url", "Print the URL of a webhook, with its token", false, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		if _, _, err := r.handleOf(cmd.Context(), c, args[0]); err != nil { // refuses users who may not see tokens
			return err
		}
		document, err := r.one(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		root, err := view.Parse(document)
		if err != nil {
			return err
		}
		url := view.TextOf(root, "webhookUrl")
		if t.json || t.format != "" {
			return t.showValue(map[string]string{"eventKey": args[0], "webhookUrl": url})
		}
		_, err = fmt.Fprintln(t.out, view.Printable(url))
		return err
	}))
	cmd.Example = "  curl -d hello \"$(sluice webhook url webhook.lead.created)\""
	return cmd
}

func webhookTest(t *terminal, r *resource) *cobra.Command {
	call := testCall{wait: wait{wanted: true}}
	cmd := r.about(t, "test", "Call a webhook, wait for the result, and show it", false, func(cmd *cobra.Command, args []string) error {
		return t.call(cmd.Context(), args[0], call)
	})
	cmd.Long = cmd.Short + ".\nA call that must be signed is signed as its sender would. If a pipeline fails, so does this, with exit code 9. sluice call does the same without waiting."
	cmd.Example = "  sluice webhook test webhook.lead.created --body '{\"name\":\"Ada\"}'\n  sluice webhook test webhook.github.push --sample push"
	call.addFlags(cmd)
	call.wait.addTimeout(cmd)
	return cmd
}

// webhookToken makes the command that renews the URL of a webhook.
func webhookToken(t *terminal, r *resource) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Renew the URL of a webhook: add a token, and delete the old one", Args: orVerb,
		Long:    "Renew the URL of a webhook without a lost call: add a token, enter the new URL at the sender, and delete the old token when it is no longer used. sluice webhook show tells when each was last used.",
		Example: "  sluice webhook token add webhook.lead.created --description 'new URL at the CRM'\n  sluice webhook token delete webhook.lead.created 3f9a1c",
	}
	add := r.about(t, "add", "Add a token, and print the URL with it", false, nil)
	add.Example = "  sluice webhook token add " + r.example + " --expires 30d"
	t.calling(add, "webhook.token.add", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		values.Set(r.Key, args[0])
		t.showTokens = true // people need it now
		answer, err := c.Command(cmd.Context(), "webhook.token.add", values, nil)
		return t.showAnswer(answer, r.missing(cmd.Context(), c, args[0], err))
	}, r.Key, r.handle)
	var yes bool
	remove := r.about(t, "delete", "Close a token, given by its last 6 characters or by all of it", false, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := t.confirm(cmd.Context(), yes, "Close the token "+sluice.Last6(args[1])+" of "+args[0]+"? Calls with it are refused at once."); err != nil {
			return err
		}
		return t.done(cmd, c, "webhook.token.delete", url.Values{r.Key: {args[0]}, "token": {args[1]}}, "Closed the token %s of %s.", sluice.Last6(args[1]), args[0])
	}))
	remove.Use, remove.Args = "delete "+r.arg()+" TOKEN", arguments(2, 2, "the event key of a webhook, and a token of it or its last 6 characters")
	remove.Example = "  sluice webhook token delete " + r.example + " 3f9a1c"
	addYes(remove, &yes)
	cmd.AddCommand(add, remove)
	return cmd
}

// webhookMissed makes the command that gets what was missed from the sender.
func webhookMissed(t *terminal, r *resource) *cobra.Command {
	cmd := r.about(t, "missed", "Ask the sender what was missed, and have it sent again", false, nil)
	cmd.Long = cmd.Short + ".\nFor " + missed.Senders() + "; the webhook needs --api-url and --api-secret."
	cmd.Example = "  sluice webhook missed webhook.github.push --since 1d --dry-run"
	return t.calling(cmd, "webhook.missed", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		values.Set(r.Key, args[0])
		var found sluice.Missed
		if err := c.Decode(cmd.Context(), "webhook.missed", values, nil, &found); err != nil {
			return r.missing(cmd.Context(), c, args[0], err)
		}
		return t.tell(found, func(w io.Writer) {
			for _, item := range found.Items {
				if item.State != sluice.MissedHad {
					fmt.Fprintln(w, view.Printable(strings.Join([]string{item.Time.Format(time.RFC3339), item.State, item.ID}, "  ")))
				}
			}
			fmt.Fprintf(w, "asked %d, had %d, missed %d\n", found.Asked, found.Had, found.Missed)
		})
	}, r.Key)
}
