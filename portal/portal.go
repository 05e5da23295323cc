// Package portal serves the pages that people see in a browser. They work without
// JavaScript, except for live updates.
//
// It has no access of its own: whatever it shows or does is a command, called with the
// permissions of the signed-in user. Package serve says who may sign in and where
// sessions are stored.
//
// What pages have in common is in package page; each room has its pages: a page x is the handler xPage,
// its view and x.html. The overview and the search, which lead to all rooms, are here.
package portal

import (
	"embed"

	"sluice/portal/administration"
	"sluice/portal/calls"
	"sluice/portal/page"
	"sluice/portal/pipelines"
	"sluice/portal/signin"
	"sluice/portal/webhooks"
)

type (
	// Options are what the portal needs from the rest of the service.
	Options = page.Options

	// A Portal serves the pages.
	Portal = page.Site
)

//go:embed *.html
var templates embed.FS

// New returns a portal.
func New(o Options) *Portal {
	s := page.New(o)
	s.Add(templates)
	s.Pages(map[string]page.Endpoint{"GET /{$}": overviewPage, "GET /search": searchPage})
	for _, add := range []func(*page.Site){signin.Add, webhooks.Add, calls.Add, pipelines.Add, administration.Add} {
		add(s)
	}
	return s
}
