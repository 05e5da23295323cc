// Package webhook has the commands that manage webhooks (webhook.put, .get, .delete), their
// settings and tokens, and the rules by which webhooks are stored.
//
// What a webhook demands of its calls is checked by package trust, and package receive makes
// events of them. Package jetstream stores webhooks.
package webhook

import (
	"context"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about webhooks, except the one that outside systems call.
func Commands(hooks *Store) []command.Command {
	missing := command.Missing(Missing)
	return []command.Command{
		command.New("webhook.put", "Create a webhook, or edit the one with that token: what is not given keeps its "+
			"value.", hooks.put, missing),
		command.New("webhook.get", "List webhooks in the order of their event keys, or show the one with that token "+
			"or event key.", hooks.get, command.Lists[sluice.WebhookView], missing),
		command.New("webhook.delete", "Delete the webhook with that token: calls to it are refused from then on.",
			hooks.delete, missing),
		command.New("webhook.token.add", "Give a webhook a further token, so that its URL can be renewed without "+
			"a lost call: add one, tell the sender, delete the old one.", hooks.addToken, missing),
		command.New("webhook.token.delete", "Close a token of a webhook at once: calls with it are refused as "+
			"calls with an unknown one. The uuid can be closed too, and stays the name of the webhook; the last open "+
			"token can't.", hooks.deleteToken, missing),
		command.New("webhook.sign", "Make a call as the webhook's sender would, with its signature, to try the "+
			"webhook with it. Needs the permission webhook.token, too, and secret.use where calls carry the secret "+
			"itself.", hooks.sign, missing),
		command.New("provider.get", "List the known senders that a webhook can have as its provider, or show one: "+
			"what is checked of its calls, how to set it up, and samples of its events.", getProvider,
			command.Lists[sluice.ProviderView], command.Nameless),
	}
}

// Missing is the error of a webhook that is not there.
func Missing(_ context.Context, parameter, _ string) error {
	if parameter == "eventKey" {
		return noKey()
	}
	return noWebhook("uuid")
}
