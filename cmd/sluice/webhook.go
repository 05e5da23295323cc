package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/missed"
)

func webhookResource(t *cli) *resource {
	r := &resource{
		cli: t, Resource: sluice.ResourceNamed("webhook"),
		short: "Create webhooks, look after them, and test them",
		word:  "event key", handle: "uuid", example: "webhook.lead.created",
		columns: view.Columns("eventKey", "provider", "payloadType", "maxPayloadLength", "disabled", "uuid", "updated",
			"description"),
		none: "There are no webhooks; sluice webhook create makes one.",
	}
	r.prefer = r.preferRaw
	r.verbs = []*cobra.Command{webhookURL(r), webhookTest(r), webhookToken(r), webhookMissed(r), webhookCheck(r)}
	return r
}

// preferRaw makes a new webhook pass on its payloads as they are, as the portal does.
func (r *resource) preferRaw(values url.Values) {
	if values.Has("payloadType") || values.Has("payloadHandling") {
		return
	}
	values.Set("payloadType", string(sluice.Raw))
	r.Notef("Pipelines see its payloads as they are; with --payload-type base64 they get every byte.")
}

func webhookURL(r *resource) *cobra.Command {
	cmd := r.about("url", "Print the URL of a webhook, with its token", false,
		r.Connected(func(ctx context.Context, args []string) error {
			hook, err := r.Server.Webhook(ctx, args[0])
			if err != nil {
				return r.missing(ctx, args[0], err)
			}
			if r.FormGiven {
				return r.ShowValue(map[string]string{"eventKey": args[0], "webhookUrl": hook.WebhookURL})
			}
			_, err = fmt.Fprintln(r.Out, view.Printable(hook.WebhookURL))
			return err
		}))
	cmd.Example = "  curl -d hello \"$(sluice webhook url webhook.lead.created)\""
	return cmd
}

func webhookTest(r *resource) *cobra.Command {
	call := testCall{waiting: awaiting{wanted: true}}
	cmd := r.about("test", "Call a webhook, wait for the result, and show it", false,
		r.Connected(func(ctx context.Context, args []string) error {
			return r.callWebhook(ctx, args[0], call)
		}))
	cmd.Long = cmd.Short +
		".\nA call that must be signed is signed as its sender would. If a pipeline fails, so does this, " +
		"with exit code 9. sluice call does the same without waiting."
	cmd.Example = "  sluice webhook test webhook.lead.created --body '{\"name\":\"Ada\"}'\n" +
		"  sluice webhook test webhook.github.push --sample push"
	call.addFlags(cmd)
	call.waiting.addTimeout(cmd)
	return cmd
}

// webhookToken makes the command that renews the URL of a webhook.
func webhookToken(r *resource) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Renew the URL of a webhook: add a token, and delete the old one",
		Args: cobra.ArbitraryArgs,
		Long: `Renew the URL of a webhook without a lost call: add a token, enter the new URL at the sender, and
			delete the old token when it is no longer used. sluice webhook show tells when each was last used.`,
		Example: "  sluice webhook token add webhook.lead.created --description 'new URL at the CRM'\n" +
			"  sluice webhook token delete webhook.lead.created 3f9a1c",
	}
	add := r.about("add", "Add a token, and print the URL with it", false, nil)
	add.Example = "  sluice webhook token add " + r.example + " --expires 30d"
	r.Calling(add, "webhook.token.add", func(ctx context.Context, values url.Values, args []string) error {
		values.Set(r.Key, args[0])
		r.ShowTokens = true // people need it now
		answer, err := r.Server.Command(ctx, "webhook.token.add", values, nil)
		return r.ShowAnswer(answer, r.missing(ctx, args[0], err))
	}, r.Key, r.handle)
	const short = "Close a token, given by its last 6 characters or by all of it"
	remove := r.about("delete", short, false, r.Connected(func(ctx context.Context, args []string) error {
		token := "token " + sluice.Last6(args[1]) + " of " + args[0]
		if err := r.Confirm(ctx, "Close the "+token+"? Calls with it are refused at once."); err != nil {
			return err
		}
		params := url.Values{r.Key: {args[0]}, "token": {args[1]}}
		return r.Do(ctx, "webhook.token.delete", params, "Closed the %s.", token)
	}))
	remove.Use = "delete " + r.placeholder() + " TOKEN"
	remove.Args = terminal.Needs("the event key of a webhook, and a token of it or its last 6 characters")
	remove.Example = "  sluice webhook token delete " + r.example + " 3f9a1c"
	r.AddYes(remove)
	cmd.AddCommand(add, remove)
	return cmd
}

// webhookMissed makes the command that gets what was missed from the sender.
func webhookMissed(r *resource) *cobra.Command {
	cmd := r.about("missed", "Ask the sender what was missed, and have it sent again", false, nil)
	cmd.Long = cmd.Short + ".\nFor " + missed.Senders() + "; the webhook needs --api-url and --api-secret."
	cmd.Example = "  sluice webhook missed webhook.github.push --since 1d --dry-run"
	return r.Calling(cmd, "webhook.missed", func(ctx context.Context, values url.Values, args []string) error {
		values.Set(r.Key, args[0])
		var found sluice.Missed
		if err := r.Server.Decode(ctx, "webhook.missed", values, nil, &found); err != nil {
			return r.missing(ctx, args[0], err)
		}
		return r.Present(found, func(w io.Writer) {
			for _, item := range found.Items {
				if item.State != sluice.MissedHad {
					line := item.Time.Format(time.RFC3339) + "  " + item.State + "  " + item.ID
					fmt.Fprintln(w, view.Printable(line))
				}
			}
			fmt.Fprintf(w, "asked %d, had %d, missed %d\n", found.Asked, found.Had, found.Missed)
		})
	}, r.Key)
}

// webhookCheck makes the command that asks the sender whether it still calls.
func webhookCheck(r *resource) *cobra.Command {
	cmd := r.about("check", "Ask the sender whether it still calls, and renew what ends soon", false, nil)
	cmd.Long = cmd.Short + ".\nFor " + missed.Checkers() + "; the webhook needs --api-url and --api-secret."
	return r.Calling(cmd, "webhook.check", func(ctx context.Context, values url.Values, args []string) error {
		values.Set(r.Key, args[0])
		var found sluice.Subscription
		if err := r.Server.Decode(ctx, "webhook.check", values, nil, &found); err != nil {
			return r.missing(ctx, args[0], err)
		}
		return r.Present(found, func(w io.Writer) {
			fmt.Fprintln(w, view.Printable(found.State+": "+found.Message))
			if !found.Expires.IsZero() {
				fmt.Fprintln(w, "expires "+found.Expires.Format(time.RFC3339))
			}
		})
	}, r.Key)
}
