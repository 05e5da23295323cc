package calls

import (
	"net/url"

	"sluice/portal/page"
)

// callsSelected replays or exports the selected calls.
func callsSelected(v *page.Visit) error {
	traces, err := selected(v, "trace")
	if err != nil {
		return err
	}
	if v.Entered("do") == "export" {
		return exportSelected(v, traces)
	}
	b := replays()
	b.field, b.names, b.replays = "traceId", traces, url.Values{}
	return b.do(v)
}

// replays returns a bulk that replays calls.
func replays() *bulk {
	return &bulk{
		Verb: "replayed", What: "call", List: "Calls", Back: "/calls", command: "event.replay",
	}
}
