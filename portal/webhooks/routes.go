// Package webhooks has the pages about webhooks: their list and figures, the form, how their senders are
// connected, their URLs, and the way to the first call.
package webhooks

import (
	"embed"

	"sluice"
	"sluice/portal/page"
)

//go:embed *.html
var templates embed.FS

// Add adds the pages to a site.
func Add(s *page.Site) {
	s.Add(templates)
	s.Pages(map[string]page.Endpoint{
		"GET /start":         startPage,
		"POST /start":        start,
		"GET /webhooks":      webhooksPage,
		"GET /webhooks/new":  webhookNew,
		"POST /webhooks/new": webhookCreate,
	})
	page.PagesOf(s, webhookNamed, map[string]func(*page.Visit, sluice.WebhookView) error{
		"GET /webhooks/{key}":                        webhookPage,
		"GET /webhooks/{key}/edit":                   webhookEdit,
		"POST /webhooks/{key}/edit":                  webhookPut,
		"POST /webhooks/{key}/try":                   webhookTry,
		"POST /webhooks/{key}/secret":                webhookSecret,
		"GET /webhooks/{key}/missed":                 missedPage,
		"POST /webhooks/{key}/missed":                missedAsk,
		"GET /webhooks/{key}/tokens":                 tokensPage,
		"POST /webhooks/{key}/tokens":                tokenAdd,
		"GET /webhooks/{key}/tokens/{last6}/delete":  tokenConfirm,
		"POST /webhooks/{key}/tokens/{last6}/delete": tokenDelete,
		"GET /webhooks/{key}/delete":                 webhookConfirm,
		"POST /webhooks/{key}/delete":                webhookDelete,
	})
}
