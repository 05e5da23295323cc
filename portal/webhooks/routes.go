// Package webhooks has the pages about webhooks: their list and figures, the form, how their senders are
// connected, their URLs, and the way to the first call.
package webhooks

import (
	"embed"

	"sluice/portal/page"
)

//go:embed *.html
var templates embed.FS

// Add adds the pages to a site.
func Add(s *page.Site) {
	s.Add(templates)
	s.Page("GET /start", startPage)
	s.Form("/start", start)
	s.Page("GET /webhooks", webhooksPage)
	s.Page("GET /webhooks/new", webhookNew)
	s.Form("/webhooks/new", webhookCreate)
	s.Page("GET /webhooks/{key}", page.With(webhookNamed, webhookPage))
	s.Page("GET /webhooks/{key}/edit", page.With(webhookNamed, webhookEdit))
	s.Form("/webhooks/{key}/edit", page.With(webhookNamed, webhookPut))
	s.Form("/webhooks/{key}/try", page.With(webhookNamed, webhookTry))
	s.Form("/webhooks/{key}/secret", page.With(webhookNamed, webhookSecret))
	s.Page("GET /webhooks/{key}/missed", page.With(webhookNamed, missedPage))
	s.Form("/webhooks/{key}/missed", page.With(webhookNamed, missedAsk))
	s.Page("GET /webhooks/{key}/tokens", page.With(webhookNamed, tokensPage))
	s.Form("/webhooks/{key}/tokens", page.With(webhookNamed, tokenAdd))
	s.Page("GET /webhooks/{key}/tokens/{last6}/delete", page.With(webhookNamed, tokenConfirm))
	s.Page("POST /webhooks/{key}/tokens/{last6}/delete", page.With(webhookNamed, tokenDelete))
	s.Page("GET /webhooks/{key}/delete", page.With(webhookNamed, webhookConfirm))
	s.Page("POST /webhooks/{key}/delete", page.With(webhookNamed, webhookDelete))
}
