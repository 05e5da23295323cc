package calls

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A callFilter says which calls a list shows: conditions, by their names in the query.
type callFilter struct {
	url.Values

	path string
}

// filterOf returns the filter that a query asks for.
func filterOf(base string, query url.Values) callFilter {
	f := callFilter{make(url.Values), base + "/calls"}
	for _, name := range []string{
		"search", "eventKey", "type", "pipeline", "status", "code", "trace", "since", "from", "to", "payloads", "sent",
	} {
		if value := strings.TrimSpace(query.Get(name)); value != "" {
			f.Set(name, value)
		}
	}
	if f.Has("status") {
		f.Set("status", string(sluice.StatusOf(f.Get("status"))))
	}
	if f.Has("from") || f.Has("to") {
		f.Del("since")
	}
	return f
}

// args returns the filter as trace.get takes it.
func (f callFilter) args() command.Args {
	given := page.Args(page.Picked(f.Values, "search", "eventKey", "type", "pipeline", "status", "code"),
		"traceId", f.Get("trace"), "from", f.start(), "to", page.AsTime(f.Get("to")))
	if f.HidesSent() {
		given = page.Args(given, "calls", true)
	}
	if f.Has("payloads") && f.Has("search") {
		given = page.Args(given, "payloads", true)
	}
	return given
}

// HidesSent reports whether the list leaves out events that were sent within the house: unless
// people ask for them, or for something that they may be.
func (f callFilter) HidesSent() bool {
	return !slices.ContainsFunc([]string{"sent", "eventKey", "pipeline", "trace", "search"}, f.Has)
}

// start returns the earliest time of the calls. A text that is no time is left to the command
// to refuse.
func (f callFilter) start() string {
	if at, err := sluice.Since(time.Time{}, f.Get("since")); err == nil && !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return cmp.Or(f.Get("since"), page.AsTime(f.Get("from")))
}

// Narrowed returns the path of the list with one condition set, or removed if value is
// empty.
func (f callFilter) Narrowed(name, value string) string {
	query := maps.Clone(f.Values)
	if name == "since" {
		query.Del("from") // one start is enough
		query.Del("to")
	}
	query.Set(name, value)
	if value == "" {
		query.Del(name)
	}
	if len(query) == 0 {
		return f.path
	}
	return f.path + "?" + query.Encode()
}

// Export returns the path that exports the matching calls as JSON lines.
func (f callFilter) Export() string { return f.path + "/export?" + f.Encode() }

// MaxExported returns the bound of an export.
func (f callFilter) MaxExported() int { return maxExported }

// ReplayAll returns the path of the page that replays the matching calls.
func (f callFilter) ReplayAll() string { return f.path + "/replay?" + f.Encode() }

// Failed reports whether the list shows failed calls that can be replayed together:
// event.replay can't search for text or a trace id.
func (f callFilter) Failed() bool {
	return f.Get("status") == "error" && !f.Has("search") && !f.Has("trace")
}

// Empty reports whether the list shows all calls.
func (f callFilter) Empty() bool { return len(f.Values) == 0 }

// onlyKeyAndTrace reports whether the live stream can filter like the list does: by
// event key and trace id alone.
func (f callFilter) onlyKeyAndTrace() bool {
	for name := range f.Values {
		if name != "eventKey" && name != "trace" {
			return false
		}
	}
	return true
}

// growing reports whether new calls may match, and asking again is cheap.
func (f callFilter) growing() bool { return !f.Has("to") && !f.Has("payloads") }

// A chosen is a condition that the form does not show.
type chosen struct{ Name, Title, Value string }

// Chosen returns the conditions that facets and links have set.
func (f callFilter) Chosen() (all []chosen) {
	for _, c := range []chosen{
		{Name: "eventKey", Title: "webhook"}, {Name: "type", Title: "type"}, {Name: "pipeline", Title: "pipeline"},
		{Name: "code", Title: "code"}, {Name: "trace", Title: "trace id"},
	} {
		if c.Value = f.Get(c.Name); c.Value != "" {
			all = append(all, c)
		}
	}
	return all
}
