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
	s.Page("GET /calls", callsPage)
	s.Page("GET /calls/export", export)
	s.Page("GET /calls/replay", replayAllPage)
	s.Form("/calls/replay", replayAll)
	s.Page("GET /calls/replayed", replayedPage)
	s.Form("/calls/selected", callsSelected)
	s.Page("GET /calls/{trace}", page.With(callsOf, callPage))
	s.Page("GET /calls/{trace}/previous", page.With(callNamed, callPrevious))
	s.Page("GET /calls/{trace}/next", page.With(callNamed, callNext))
	s.Page("POST /calls/{trace}/replay", callReplay)
	s.Page("POST /calls/{trace}/retry", callRetry)
	s.Page("GET /calls/{trace}/erase", callEraseConfirm)
	s.Page("POST /calls/{trace}/erase", callErase)
	s.Page("GET /calls/{trace}/edit", page.With(callNamed, resendPage))
	s.Form("/calls/{trace}/edit", resend)
	s.Page("GET "+sluice.LivePath, liveStreams(s))
	s.Page("GET /quarantine", quarantinePage)
	s.Page("GET /quarantine/{id}", quarantinedPage)
	s.Form("/quarantine/selected", quarantineSelected)
	s.Form("/quarantine/group", quarantineOfGroup)
	s.Page("GET /deadletters", lettersPage)
	s.Form("/deadletters/selected", lettersSelected)
	s.Form("/deadletters/group", lettersOfGroup)
	s.Page("GET /deadletters/{letter}", page.With(letterNamed, letterPage))
	s.Page("POST /deadletters/{letter}/replay", letterReplay)
	s.Page("GET /deadletters/{letter}/delete", page.With(letterNamed, letterConfirm))
	s.Page("POST /deadletters/{letter}/delete", letterDelete)
}
