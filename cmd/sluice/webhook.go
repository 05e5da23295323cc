package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

func webhookResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("webhook"), short: "Create webhooks, look after them, and test them",
		word: "event key", handle: "uuid", example: "webhook.lead.created",
		columns: columnsOf("eventKey", "provider", "payloadType", "maxPayloadLength", "disabled", "uuid", "updated", "description"),
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
		root, err := parseJSON(document)
		if err != nil {
			return err
		}
		url := textOf(root, "webhookUrl")
		if t.json || t.format != "" {
			return t.showValue(map[string]string{"eventKey": args[0], "webhookUrl": url})
		}
		_, err = fmt.Fprintln(t.out, printable(url))
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
	cmd.Long = cmd.Short + ".\nFor " + strings.Join(sluice.MissedProviders, ", ") + "; the webhook needs --api-url and --api-secret."
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
					fmt.Fprintln(w, printable(strings.Join([]string{item.Time.Format(time.RFC3339), item.State, item.ID}, "  ")))
				}
			}
			fmt.Fprintf(w, "asked %d, had %d, missed %d\n", found.Asked, found.Had, found.Missed)
		})
	}, r.Key)
}
