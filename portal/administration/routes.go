// Package administration has the pages of those who look after the server: users, roles, clients and secrets,
// alerts, the audit log, and every command with its reference.
package administration

import (
	"embed"
	"sync"

	"sluice/command"
	"sluice/portal/page"
)

//go:embed *.html
var templates embed.FS

// Add adds the pages to a site.
func Add(s *page.Site) {
	s.Add(templates)
	operations := sync.OnceValues(func() (map[string][]operation, error) {
		text, err := s.Reference()
		if err != nil {
			return nil, err
		}
		return operationsOf(text)
	})
	described := func(v *page.Visit) map[string][]operation {
		all, err := operations()
		v.Fail(err)
		return all
	}
	for _, res := range resources() {
		page.PagesOf(s, func(*page.Visit) *resource { return res }, map[string]func(*page.Visit, *resource) error{
			"GET " + res.Page:                     resourceListPage,
			"GET " + res.Page + "/new":            resourceNew,
			"POST " + res.Page + "/new":           resourcePut,
			"GET " + res.Page + "/{item}":         resourcePage,
			"POST " + res.Page + "/{item}":        resourcePut,
			"GET " + res.Page + "/{item}/delete":  resourceConfirm,
			"POST " + res.Page + "/{item}/delete": resourceDelete,
		})
	}
	s.Pages(map[string]page.Endpoint{
		"GET /teams/new":         teamPage,
		"POST /teams/new":        teamPut,
		"GET /alerts":            alertsPage,
		"POST /alerts/{id}/mute": alertMute,
		"GET /audit":             auditPage,
		"GET /settings":          settingsPage,
		"GET /commands":          commandsPage,
		"GET /me":                mePage,
		"POST /me":               setPassword,
	})
	page.PagesOf(s, commandNamed, map[string]func(*page.Visit, command.Command) error{
		"GET /commands/{name}":  commandPage,
		"POST /commands/{name}": commandRun,
	})
	page.PagesOf(s, described, map[string]func(*page.Visit, map[string][]operation) error{
		"GET /reference":       referencePage,
		"GET /reference/{tag}": referencePage,
	})
}
