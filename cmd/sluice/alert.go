package main

import (
	"context"
	"embed"
	"encoding/json"
	"net/mail"
	"net/url"
	"strconv"
	"strings"

	"sluice/cmd/sluice/exit"
)

func (t *cli) alertMute(ctx context.Context) error {
	return t.Do(ctx, "Muted the alert %s for %s.", t.Args[0], t.Text("for"))
}

func (t *cli) alertRule(ctx context.Context) error {
	return t.Do(ctx, "Stored the rule for %s.", strings.Join(t.Args, " "))
}

// alertPipelines are the pipelines that pass alerts on, in their order.
//
//go:embed alerts
var alertPipelines embed.FS

// alertTo stores the pipeline that passes alerts on. Any address but one of mail may be a secret.
func (t *cli) alertTo(ctx context.Context) error {
	name, address := t.Text("name"), t.Args[0]
	isSecret := t.Verb.Name != "mail"
	if _, err := mail.ParseAddressList(address); err != nil && !isSecret {
		return exit.Usage("%q is no mail address.", address)
	}
	var me struct{ Username string }
	if err := t.Server.Decode(ctx, "iam.whoami", nil, nil, &me); err != nil {
		return err
	}
	if isSecret {
		if _, err := t.Server.Command(ctx, "secret.put", url.Values{"name": {name}, "value": {address}},
			nil); err != nil {
			return err
		}
		address = `#{secret("` + name + `")}`
	}
	answer, err := t.Server.PutPipeline(ctx, name, alertPipeline(t.Verb.Name, me.Username, address), false)
	if err != nil {
		return err
	}
	return t.Report(json.RawMessage(answer.Body), "Alerts are told by the pipeline %s.", name)
}

// alertPipeline returns the pipeline that tells alerts to a destination.
func alertPipeline(destination, username, address string) string {
	source, err := alertPipelines.ReadFile("alerts/" + destination + ".yaml")
	if err != nil {
		panic(err) // it is in the program
	}
	return strings.NewReplacer("$username", strconv.Quote(username),
		"$address", "'"+strings.ReplaceAll(address, "'", "''")+"'").Replace(string(source))
}
