// Package administration has the pages of those who look after the server: users, roles, clients and secrets,
// alerts, the audit log, and every command with its reference.
package administration

import (
	"embed"
	"sync"

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
	described := func(*page.Visit) (map[string][]operation, error) { return operations() }
	for _, res := range resources() {
		of := func(serve func(*page.Visit, *resource) error) page.Endpoint {
			return func(v *page.Visit) error { return serve(v, res) }
		}
		s.Page("GET "+res.Page, of(resourceListPage))
		s.Page("GET "+res.Page+"/new", of(resourceNew))
		s.Form(res.Page+"/new", of(resourcePut))
		s.Page("GET "+res.Page+"/{item}", of(resourcePage))
		s.Form(res.Page+"/{item}", of(resourcePut))
		s.Page("GET "+res.Page+"/{item}/delete", of(resourceConfirm))
		s.Page("POST "+res.Page+"/{item}/delete", of(resourceDelete))
	}
	s.Page("GET /teams/new", teamPage)
	s.Form("/teams/new", teamPut)
	s.Page("GET /alerts", alertsPage)
	s.Form("/alerts/{id}/mute", alertMute)
	s.Page("GET /audit", auditPage)
	s.Page("GET /settings", settingsPage)
	s.Page("GET /commands", commandsPage)
	s.Page("GET /commands/{name}", page.With(commandNamed, commandPage))
	s.Form("/commands/{name}", page.With(commandNamed, commandRun))
	s.Page("GET /reference", page.With(described, referencePage))
	s.Page("GET /reference/{tag}", page.With(described, referencePage))
	s.Page("GET /me", mePage)
	s.Form("/me", setPassword)
}
