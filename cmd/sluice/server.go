package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/config"
	"sluice/serve"
)

func auditCommand(t *terminal) *cobra.Command {
	cmd := list{
		command: "audit.get", page: "/audit", none: "Nothing of that kind stands in the audit log.",
		columns: view.Columns("time", "username", "command", "target", "outcome", "address", "count"),
	}.verb(t, "audit", "Read who did what, newest first")
	cmd.Example = "  sluice audit --since 1h --username admin"
	cmd.Args = orVerb
	cmd.AddCommand(auditVerify(t))
	return cmd
}

func auditVerify(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, taken out or put in", Args: arguments(0, 0, ""),
		RunE: t.connected(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			answer, err := c.Command(cmd.Context(), "audit.verify", nil, nil)
			if err != nil {
				return err
			}
			var found struct{ Breaks []any }
			if err := json.Unmarshal(answer.Body, &found); err != nil {
				return err
			}
			if err := t.show(answer.Body); err != nil {
				return err
			}
			if len(found.Breaks) > 0 {
				return &failure{code: exitConflict, message: "The audit log was tampered with: its chain breaks in " + view.Counted(len(found.Breaks), "place") + "."}
			}
			return nil
		}),
	}
}

func statsCommand(t *terminal) *cobra.Command {
	var open bool
	cmd := &cobra.Command{Use: "stats", Short: "See what the server is doing", Args: arguments(0, 0, "")}
	t.addOpen(cmd, &open)
	return t.calling(cmd, "server.stats", func(cmd *cobra.Command, c *client.Client, values url.Values, _ []string) error {
		if open {
			return t.open(cmd.Context(), c, "/")
		}
		answer, err := c.Command(cmd.Context(), "server.stats", values, nil)
		if err != nil {
			return err
		}
		return t.write(answer.Body, func(w io.Writer, root *yaml.Node) error {
			for _, name := range []string{"minutes", "hours"} {
				if figures := view.Field(root, name); figures != nil {
					tabulate(figures)
				}
			}
			return t.view().Account(w, root, "")
		})
	})
}

// figureNames are what people call the figures of a minute. Everywhere on the
// command line, a failed call is one that a pipeline failed on.
var figureNames = map[string]string{"failed": "notTaken", "errors": "failed", "runErrors": "failedRuns"}

// tabulate makes minutes or hours fit a table: without idle ones, and narrow.
func tabulate(figures *yaml.Node) {
	figures.Content = slices.DeleteFunc(figures.Content, isIdle)
	for _, minute := range figures.Content {
		view.DropField(minute, "webhooks") // too wide; --json shows them
		for i := 0; i+1 < len(minute.Content); i += 2 {
			if name := figureNames[minute.Content[i].Value]; name != "" {
				minute.Content[i].Value = name
			}
		}
	}
}

// isIdle reports whether nothing was counted in a minute.
func isIdle(minute *yaml.Node) bool {
	for i := 0; i+1 < len(minute.Content); i += 2 {
		if count, ok := view.Number(minute.Content[i+1]); ok && count != 0 {
			return false
		}
	}
	return true
}

// alertCommand lists alerts, mutes them, and stores pipelines that pass them on.
func alertCommand(t *terminal) *cobra.Command {
	alerts := list{
		command: "alert.get", none: "There are no alerts: all is well.", things: "alerts",
		columns: view.Columns("id", "kind", "subject", "severity", "since", "until", "message"),
	}
	cmd := alerts.verb(t, "alert", "See what is wrong, and have it told")
	cmd.Args = orVerb
	cmd.AddCommand(alerts.verb(t, "list", "List the alerts, newest first"), alertMute(t), alertTo(t))
	return cmd
}

func alertMute(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mute ID", Short: "Send nothing of an alert for a while", Example: "  sluice alert mute k3v6t2ab5c --for 1h",
		Args: arguments(1, 1, "the id of an alert"),
	}
	return t.calling(cmd, "alert.mute", func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		values.Set("id", args[0])
		return t.done(cmd, c, "alert.mute", values, "Muted the alert %s for %s.", args[0], values.Get("for"))
	}, "id")
}

// A destination is somewhere that alerts can go. Its address may be a secret.
type destination struct {
	name, what string
	secret     bool
	step       string // with %s for the address
}

// said is an alert as a sentence.
const said = `#{body.payload.state == "raised" ? "🔴" : "🟢"} #{body.payload.kind} #{body.payload.state}: #{body.payload.message}`

var destinations = []destination{
	{"slack", "an incoming webhook of Slack", true, "http.request: {url: '%s', method: POST, expect: 2xx, body: {text: '" + said + "'}}"},
	{"teams", "a workflow of Microsoft Teams", true, "http.request: {url: '%s', method: POST, expect: 2xx, body: {type: message, attachments: [{contentType: application/vnd.microsoft.card.adaptive, " +
		"content: {type: AdaptiveCard, version: '1.4', body: [{type: TextBlock, wrap: true, text: '" + said + "'}]}}]}}"},
	{"webhook", "any URL, with the alert as JSON", true, "http.request: {url: '%s', method: POST, expect: 2xx, body: '#{body.payload}'}"},
	{"mail", "a mail address", false, `mail.send: {to: '%s', subject: '#{body.payload.kind} #{body.payload.state} #{body.payload.subject ?? ""}', text: '` + said + `'}`},
}

func alertTo(t *terminal) *cobra.Command {
	to := &cobra.Command{Use: "to", Short: "Have alerts told elsewhere", Args: orVerb, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	for _, d := range destinations {
		word := "URL"
		if !d.secret {
			word = "ADDRESS"
		}
		cmd := &cobra.Command{
			Use: d.name + " " + word, Short: "Have alerts told to " + d.what, Args: arguments(1, 1, "one "+strings.ToLower(word)),
			Long: "Have alerts told to " + d.what + ".\nThis stores the pipeline alert-to-" + d.name + ", which runs as you. A URL is stored as the secret of that name.",
		}
		var name string
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return t.tellTo(cmd, d, name, args[0]) }
		cmd.Flags().StringVar(&name, "name", "alert-to-"+d.name, "name of the pipeline, and of the secret")
		to.AddCommand(cmd)
	}
	return to
}

// tellTo stores the pipeline that passes alerts on.
func (t *terminal) tellTo(cmd *cobra.Command, d destination, name, address string) error {
	if _, err := mail.ParseAddressList(address); err != nil && !d.secret {
		return usage("%q is no mail address.", address)
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	var me struct{ Username string }
	if err := c.Decode(cmd.Context(), "iam.whoami", nil, nil, &me); err != nil {
		return err
	}
	if d.secret {
		if _, err := c.Command(cmd.Context(), "secret.put", url.Values{"name": {name}, "value": {address}}, nil); err != nil {
			return err
		}
		address = `#{secret("` + name + `")}`
	}
	answer, err := c.PutPipeline(cmd.Context(), name, d.source(me.Username, address), false)
	if err != nil {
		return err
	}
	return t.report(json.RawMessage(answer.Body), "Alerts are told by the pipeline %s.", name)
}

// source returns the pipeline that tells alerts there, in their order.
func (d destination) source(username, address string) string {
	return fmt.Sprintf("description: Tells alerts to %s.\nconcurrency: 1\nretry: {times: 10}\npipeline:\n- event.listen: {eventKey: sluice.alert.#}\n- iam.run.as: {username: %q}\n- "+d.step+"\n",
		d.what, username, strings.ReplaceAll(address, "'", "''"))
}

// stopped is a server that does not run: its settings, and a log for work on its data.
type stopped struct {
	config.Config

	log *slog.Logger
}

// Settings that say where a server keeps its data, and how to open it.
var (
	folderSettings  = []string{"data"}
	stoppedSettings = []string{"data", "nats", "nats-credentials", "nats-replicas", "secret-key-file"}
)

// onStopped makes a verb work on the data of a stopped server. The named settings
// become flags that say where the data is.
func (t *terminal) onStopped(cmd *cobra.Command, settings []string, run func(cmd *cobra.Command, at stopped, args []string) error) *cobra.Command {
	file := cmd.Flags().String("config", "", "YAML file with the settings of the server")
	for _, s := range config.Settings() {
		if slices.Contains(settings, s.Name) {
			cmd.Flags().String(s.Name, s.Default, s.Doc)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadSettings(cmd, *file)
		if err != nil {
			return err
		}
		log, flush := serve.NewLog(t.err, cfg.LogLevel, cfg.LogFormat)
		defer flush()
		return run(cmd, stopped{cfg, log}, args)
	}
	return cmd
}

func adminCommand(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admin", Short: "Get back into a server",
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(adminPassword(t))
	t.addForm(cmd)
	return cmd
}

func adminPassword(t *terminal) *cobra.Command {
	return t.onStopped(&cobra.Command{
		Use: "password", Short: "Set the admin's password, with the server stopped",
		Long:    "Set the admin's password, with the server stopped: for whoever has lost it. It is read from SLUICE_ADMIN_PASSWORD, otherwise asked for or read from standard input; without one it is made up and printed. Logins of the admin end. Users and everything else stay as they are.",
		Example: "  sluice admin password --data ./data",
		Args:    arguments(0, 0, ""),
	}, stoppedSettings, func(cmd *cobra.Command, at stopped, _ []string) (err error) {
		password := os.Getenv("SLUICE_ADMIN_PASSWORD")
		if password == "" {
			if password, err = t.secretValue(cmd.Context(), "New password of "+sluice.AdminName+" (empty: one is made up)"); err != nil {
				return err
			}
		}
		generated, err := serve.SetAdminPassword(cmd.Context(), at.Config, password, at.log)
		if err != nil {
			return err
		}
		done := map[string]string{"username": sluice.AdminName}
		if generated == "" {
			return t.report(done, "The user %s has the new password. Start the server again.", sluice.AdminName)
		}
		done["password"] = generated
		return t.report(done, "The user %s has the password %s (shown this once). Start the server again.", sluice.AdminName, generated)
	})
}

// checkSteps is how many steps of progress the reading of a store has.
const checkSteps = 100

func checkCommand(t *terminal) *cobra.Command {
	var accept bool
	cmd := t.onStopped(&cobra.Command{
		Use:   "check",
		Short: "Read a data folder and tell what is damaged",
		Long:  "Read everything in the data folder of a server that is stopped, and tell what is damaged. Nothing is changed. A server that has lost webhooks, accounts or other records refuses to serve, until the folder is restored from a backup; with --accept it goes on with what is left. One that has lost events serves, and tells which.",
		Args:  arguments(0, 0, ""),
	}, folderSettings, func(_ *cobra.Command, at stopped, _ []string) error {
		bar, shown := t.progress(checkSteps, "reading"), int64(0)
		defer bar.end()
		findings, err := serve.Check(at.Data, accept, func(done, total int64) {
			for ; shown < done*checkSteps/max(1, total); shown++ {
				bar.step()
			}
		})
		bar.end()
		if err != nil {
			return err
		}
		for _, finding := range findings {
			fmt.Fprintln(t.out, finding)
		}
		switch {
		case len(findings) == 0:
			fmt.Fprintln(t.out, "Everything can be read, and nothing is missing.")
			return nil
		case accept:
			fmt.Fprintln(t.out, "The server will go on with what is left.")
			return nil
		}
		return sluice.Errorf(sluice.CodeDamaged, "The store is damaged in %s.", view.Counted(len(findings), "place"))
	})
	cmd.Flags().BoolVar(&accept, "accept", false, "let the server go on with what is left")
	return cmd
}
