package main

import (
	"fmt"
	"net/url"

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
			return []*cobra.Command{webhookURL(t, r), webhookTest(t, r)}
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
	cmd.Long = cmd.Short + ".\nA call that must be signed is signed as its sender would. If a pipeline fails, so does this, with\n" +
		"exit code 9. sluice call does the same without waiting."
	cmd.Example = "  sluice webhook test webhook.lead.created --body '{\"name\":\"Ada\"}'\n  sluice webhook test webhook.github.push --sample push"
	call.addFlags(cmd)
	call.wait.addTimeout(cmd)
	return cmd
}
