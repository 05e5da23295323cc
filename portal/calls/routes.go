// Package calls has the pages about traffic: calls, dead letters and the quarantine.
package calls

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
		"GET /calls":                        callsPage,
		"GET /calls/export":                 export,
		"GET /calls/replay":                 replayAllPage,
		"POST /calls/replay":                replayAll,
		"GET /calls/replayed":               replayedPage,
		"POST /calls/selected":              callsSelected,
		"POST /calls/{trace}/replay":        callReplay,
		"POST /calls/{trace}/retry":         callRetry,
		"GET /calls/{trace}/erase":          callEraseConfirm,
		"POST /calls/{trace}/erase":         callErase,
		"POST /calls/{trace}/edit":          resend,
		"GET " + sluice.LivePath:            liveStreams(s),
		"GET /quarantine":                   quarantinePage,
		"GET /quarantine/{id}":              quarantinedPage,
		"POST /quarantine/selected":         quarantineSelected,
		"POST /quarantine/group":            quarantineOfGroup,
		"GET /deadletters":                  lettersPage,
		"POST /deadletters/selected":        lettersSelected,
		"POST /deadletters/group":           lettersOfGroup,
		"POST /deadletters/{letter}/replay": letterReplay,
		"POST /deadletters/{letter}/delete": letterDelete,
	})
	page.PagesOf(s, callsOf, map[string]func(*page.Visit, []sluice.CallView) error{
		"GET /calls/{trace}":          callPage,
		"GET /calls/{trace}/previous": callPrevious,
		"GET /calls/{trace}/next":     callNext,
		"GET /calls/{trace}/edit":     resendPage,
	})
	page.PagesOf(s, letterNamed, map[string]func(*page.Visit, sluice.DeadLetter) error{
		"GET /deadletters/{letter}":        letterPage,
		"GET /deadletters/{letter}/delete": letterConfirm,
	})
}
