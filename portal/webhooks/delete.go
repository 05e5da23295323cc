package webhooks

import (
	"sluice"
	"sluice/portal/page"
)

func webhookConfirm(v *page.Visit, hook sluice.WebhookView) error {
	path := webhookPath(hook.EventKey)
	asked := page.Confirmation{
		Name: hook.EventKey, What: "webhook", Back: path,
		Effect: "It can’t be undone: calls with its token are rejected from then on, and the token never comes back. " +
			"Events that were accepted stay.",
	}
	if !hook.Disabled && v.May("webhook.put") {
		asked.Instead = &page.Instead{
			Label:  "Disable it instead",
			About:  "Disabled, it rejects calls and keeps them in the quarantine until you enable it again.",
			Action: path + "/edit",
			Name:   "disabled",
			Value:  "true",
		}
	}
	return v.Show("confirm", "Delete "+hook.EventKey, asked)
}

func webhookDelete(v *page.Visit, hook sluice.WebhookView) error {
	return v.RunThen("/webhooks?done=deleted", "webhook.delete", "uuid", hook.UUID)
}
