package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

// alertCommand lists alerts, mutes them, and stores pipelines that pass them on.
func alertCommand(t *cli) *cobra.Command {
	alerts := terminal.List{
		Command: "alert.get", None: "There are no alerts: all is well.", Things: "alerts",
		Columns: view.Columns("id", "kind", "severity", "since", "until", "message"),
	}
	cmd := t.ListVerb(alerts, "alert", "See what is wrong, and have it told")
	rules := terminal.List{
		Command: "alert.rules", Things: "rules",
		Columns: view.Columns("kind", "subject", "after", "atLeast", "off", "default"),
	}
	cmd.AddCommand(t.ListVerb(alerts, "list", "List the alerts, newest first"), alertMute(t), alertRule(t),
		t.ListVerb(rules, "rules", "List by which rules alerts are raised"), alertTo(t))
	return cmd
}

func alertMute(t *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mute ID", Short: "Send nothing of an alert for a while",
		Example: "  sluice alert mute k3v6t2ab5c --for 1h",
		Args:    terminal.Needs("the id of an alert"),
	}
	return t.Calling(cmd, "alert.mute", func(ctx context.Context, values url.Values, args []string) error {
		values.Set("id", args[0])
		return t.Do(ctx, "alert.mute", values, "Muted the alert %s for %s.", args[0], values.Get("for"))
	}, "id")
}

// alertRule says when alerts are raised.
func alertRule(t *cli) *cobra.Command {
	return t.Calling(&cobra.Command{
		Use: "rule KIND [SUBJECT]", Short: "Say when alerts of a kind are raised",
		Example: "  sluice alert rule quarantine \"webhook.shop.*\" --at-least 20% --after 5m",
		Args:    terminal.Needs("a kind, and perhaps a subject"),
	}, "alert.put", func(ctx context.Context, values url.Values, args []string) error {
		values["kind"], values["subject"] = args[:1], args[1:]
		return t.Do(ctx, "alert.put", values, "Stored the rule for %s.", strings.Join(args, " "))
	}, "kind", "subject")
}

func alertTo(t *cli) *cobra.Command {
	to := &cobra.Command{
		Use: "to", Short: "Have alerts told elsewhere",
	}
	for _, d := range destinations {
		word := "URL"
		if !d.secret {
			word = "ADDRESS"
		}
		cmd := &cobra.Command{
			Use: d.name + " " + word, Short: "Have alerts told to " + d.what,
			Args: terminal.Needs("one " + strings.ToLower(word)),
			Long: "Have alerts told to " + d.what + ".\nThis stores the pipeline alert-to-" + d.name +
				", which runs as you. A URL is stored as the secret of that name.",
		}
		var name string
		cmd.RunE = t.Connected(func(ctx context.Context, args []string) error {
			return t.passTo(ctx, d, name, args[0])
		})
		cmd.Flags().StringVar(&name, "name", "alert-to-"+d.name, "name of the pipeline, and of the secret")
		to.AddCommand(cmd)
	}
	return to
}

// A destination is somewhere that alerts can go. Its address may be a secret.
type destination struct {
	name, what string
	secret     bool
	step       string // with %s for the address
}

// alertMark and alertText are an alert as a line.
const (
	alertMark = `#{body.payload.state == "raised" ? "🔴" : "🟢"} `
	alertText = alertMark + `#{body.payload.message}`
)

// slackText is a line in which nothing of the message is a command of Slack's, and a link.
const slackText = alertMark + `#{replace(replace(replace(body.payload.message, "&", "&amp;"), "<", "&lt;"), ">", ` +
	`"&gt;")}#{"url" in body.payload ? " <" + body.payload.url + "|Look at it>" : ""}`

var destinations = []destination{
	{"slack", "an incoming webhook of Slack", true,
		"http.request: {url: '%s', method: POST, expect: 2xx, body: {text: '" + slackText + "'}}"},
	{"teams", "a workflow of Microsoft Teams", true, "http.request: {url: '%s', method: POST, expect: 2xx, body: " +
		"{type: message, attachments: [{contentType: application/vnd.microsoft.card.adaptive, " +
		"content: {type: AdaptiveCard, version: '1.4', body: [{type: TextBlock, wrap: true, weight: Bolder, text: '" +
		alertMark + "#{body.payload.title}'}, {type: TextBlock, wrap: true, text: '#{body.payload.message}'}], " +
		`actions: '#{"url" in body.payload ? [{type: "Action.OpenUrl", title: "Look at it", url: body.payload.url}] ` +
		": []}'" +
		"}}]}}"},
	{"webhook", "any URL, with the alert as JSON", true,
		"http.request: {url: '%s', method: POST, expect: 2xx, body: '#{body.payload}'}"},
	{"mail", "a mail address", false, `mail.send: {to: '%s', subject: '` + alertMark +
		`#{body.payload.title}', text: '` + alertText +
		`#{"url" in body.payload ? "\n\n" + body.payload.url : ""}'}`},
}

// passTo stores the pipeline that passes alerts on.
func (t *cli) passTo(ctx context.Context, d destination, name, address string) error {
	if _, err := mail.ParseAddressList(address); err != nil && !d.secret {
		return exit.Usage("%q is no mail address.", address)
	}
	var me struct{ Username string }
	if err := t.Server.Decode(ctx, "iam.whoami", nil, nil, &me); err != nil {
		return err
	}
	if d.secret {
		if _, err := t.Server.Command(ctx, "secret.put", url.Values{"name": {name}, "value": {address}},
			nil); err != nil {
			return err
		}
		address = `#{secret("` + name + `")}`
	}
	answer, err := t.Server.PutPipeline(ctx, name, d.pipelineOf(me.Username, address), false)
	if err != nil {
		return err
	}
	return t.Report(json.RawMessage(answer.Body), "Alerts are told by the pipeline %s.", name)
}

// pipelineOf returns the pipeline that tells alerts there, in their order.
func (d destination) pipelineOf(username, address string) string {
	return fmt.Sprintf("description: Tells alerts to %s.\nconcurrency: 1\nretry: {times: 10}\npipeline:\n- "+
		"event.listen: {eventKey: sluice.alert.#}\n- iam.run.as: {username: %q}\n- "+d.step+"\n",
		d.what, username, strings.ReplaceAll(address, "'", "''"))
}
